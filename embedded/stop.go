package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stopLimit bounds a stop whatever the caller's context says.
const stopLimit = 3 * time.Second

// Stop ends the server: calls in flight are cancelled, what was acknowledged
// stays in the file, ports and file are free when it returns nil. It gives up
// with an error when ctx ends or after 3 s. Every call after the first waits
// for the same stop and returns its result.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		go func() {
			s.stopErr = s.shutdown()
			close(s.stopped)
		}()
	})
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	select {
	case <-s.stopped:
		return s.stopErr
	case <-ctx.Done():
		return fmt.Errorf("stop the server: %w", ctx.Err())
	}
}

// shutdown undoes the start, last step first. A service that is cut off while
// it works logs errors that mean nothing, so the log is closed first.
func (s *Server) shutdown() error {
	s.log.mute()
	defer s.gate.close()
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		if err := s.closers[i].run(); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", s.closers[i].what, err))
		}
	}
	return errors.Join(errs...)
}
