package model

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/payload"
)

// recording is one file of a recordings folder, named by the digest of its
// request.
type recording struct {
	Request  recordedRequest  `json:"request"`
	Response recordedResponse `json:"response"`
}

type recordedRequest struct {
	System   string            `json:"system"`
	Messages []recordedMessage `json:"messages"`
	Schema   json.RawMessage   `json:"schema"`
}

type recordedMessage struct {
	Role   Role     `json:"role"`
	Text   string   `json:"text"`
	Images []string `json:"images"` // their digests
}

type recordedResponse struct {
	Text   string             `json:"text"`
	Model  string             `json:"model"`
	Finish string             `json:"finish"`
	Usage  payload.TokenUsage `json:"usage"`
}

func record(r Request) recordedRequest {
	out := recordedRequest{System: r.System, Schema: r.Schema, Messages: make([]recordedMessage, len(r.Messages))}
	for i, m := range r.Messages {
		out.Messages[i] = recordedMessage{Role: m.Role, Text: m.Text}
		for _, img := range m.Images {
			out.Messages[i].Images = append(out.Messages[i].Images, digest(img.Data))
		}
	}
	return out
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (r recordedRequest) file(dir string) string {
	return filepath.Join(dir, digest(mustJSON(r))+".json")
}

// replay answers from recordings; a request never seen is a fault.
type replay struct{ dir string }

func newReplay(s Spec) (Client, error) {
	if info, err := os.Stat(s.Recordings); err != nil || !info.IsDir() {
		return nil, fault.New(fault.BackendInit, "prepare replay", "Record one with --record DIR and a real provider.", "there is no folder %s", s.Recordings)
	}
	return replay{s.Recordings}, nil
}

// Generate implements Client.
func (p replay) Generate(ctx context.Context, r Request) (Response, error) {
	if err := ctx.Err(); err != nil {
		return Response{}, err
	}
	name := record(r).file(p.dir)
	data, err := os.ReadFile(name)
	if err != nil {
		e := fault.New(fault.Execution, "replay", "Record it with --record DIR and a real provider.", "no recording of this request (%s)", filepath.Base(name))
		e.Permanent = errors.Is(err, fs.ErrNotExist)
		return Response{}, e
	}
	var saved recording
	err = json.Unmarshal(data, &saved)
	if err == nil && saved.Request.file(p.dir) != name {
		err = errors.New("it holds another request")
	}
	if err != nil {
		return Response{}, fault.New(fault.Config, "read "+name, "Record it again.", "it is damaged: %w", err)
	}
	return Response(saved.Response), nil
}

// Recorder wraps a client and keeps every answer in a folder for a replay
// provider. An answer that cannot be kept is a fault of the call.
func Recorder(c Client, dir string) (Client, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fault.New(fault.Config, "record to "+dir, "Name a folder that can be written.", "%w", err)
	}
	return recorder{c, dir}, nil
}

type recorder struct {
	next Client
	dir  string
}

// Generate implements Client.
func (c recorder) Generate(ctx context.Context, r Request) (Response, error) {
	a, err := c.next.Generate(ctx, r)
	if err != nil {
		return a, err
	}
	q := record(r)
	data, err := json.MarshalIndent(recording{q, recordedResponse(a)}, "", "  ")
	if err != nil {
		return a, err
	}
	if err := writeWhole(q.file(c.dir), append(data, '\n')); err != nil {
		return a, fault.New(fault.Config, "record to "+c.dir, "Name a folder that can be written.", "%w", err)
	}
	return a, nil
}

// writeWhole writes a file so that no reader ever sees half of it.
func writeWhole(name string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".recording-*")
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}
