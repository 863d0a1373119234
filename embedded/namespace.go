package embedded

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	persistencespb "go.temporal.io/server/api/persistence/v1"
	"go.temporal.io/server/common"
	"go.temporal.io/server/common/persistence"
	"go.temporal.io/server/common/persistence/serialization"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/searchattribute/sadefs"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/holodeck-run/holodeck/fault"
)

// clusterName is the name of the one cluster; files of the official development
// server have the same.
const clusterName = "active"

// attributeTypes are the search attribute types by the names users write.
func attributeTypes() map[string]enumspb.IndexedValueType {
	return map[string]enumspb.IndexedValueType{
		"Text":        enumspb.INDEXED_VALUE_TYPE_TEXT,
		"Keyword":     enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		"Int":         enumspb.INDEXED_VALUE_TYPE_INT,
		"Double":      enumspb.INDEXED_VALUE_TYPE_DOUBLE,
		"Bool":        enumspb.INDEXED_VALUE_TYPE_BOOL,
		"Datetime":    enumspb.INDEXED_VALUE_TYPE_DATETIME,
		"KeywordList": enumspb.INDEXED_VALUE_TYPE_KEYWORD_LIST,
	}
}

const searchAttributeOp = "read --search-attribute"

func searchAttributes(wanted map[string]string) (map[string]enumspb.IndexedValueType, error) {
	types := attributeTypes()
	attrs := map[string]enumspb.IndexedValueType{}
	for _, name := range sortedKeys(wanted) {
		t, ok := types[wanted[name]]
		switch {
		case !ok:
			return nil, fault.New(fault.Config, searchAttributeOp, "Known: Text, Keyword, Int, Double, Bool, Datetime, KeywordList.", "%q is not a type for %s", wanted[name], name)
		case name == "" || strings.TrimSpace(name) != name:
			return nil, fault.New(fault.Config, searchAttributeOp, "Write NAME=TYPE.", "%q is not a name", name)
		case sadefs.IsReserved(name):
			return nil, fault.New(fault.Config, searchAttributeOp, "Choose another name.", "%s is the server's own", name)
		}
		attrs[name] = t
	}
	return attrs, nil
}

// prepareNamespaces writes namespaces and search attributes before the server
// starts, so they are usable from its first moment.
func (s *Server) prepareNamespaces(ctx context.Context, p *plan) error {
	all := math.MaxInt32
	rows, err := p.db.SelectFromNamespace(ctx, sqlplugin.NamespaceFilter{PageSize: &all})
	if err != nil {
		return fileFault(s.file, "read the namespaces of", err)
	}
	book := &namespaces{db: p.db, plan: p, codec: serialization.NewSerializer(), file: s.file}
	missing := slices.Clone(p.Namespaces)
	for _, row := range rows {
		if row.Name == systemNamespace {
			continue
		}
		if err := book.update(ctx, row, slices.Contains(p.Namespaces, row.Name)); err != nil {
			return err
		}
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == row.Name })
	}
	for _, name := range missing {
		if err := book.create(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// namespaces edits the namespaces of a database no server uses yet.
type namespaces struct {
	db    sqlplugin.DB
	plan  *plan
	codec serialization.Serializer
	file  string
}

func (n *namespaces) create(ctx context.Context, name string) error {
	id := uuid.New()
	retention := n.plan.Retention
	if retention == 0 {
		retention = DefaultRetention
	}
	detail := &persistencespb.NamespaceDetail{
		Info: &persistencespb.NamespaceInfo{Id: id.String(), Name: name, State: enumspb.NAMESPACE_STATE_REGISTERED},
		Config: &persistencespb.NamespaceConfig{
			Retention:               durationpb.New(retention),
			HistoryArchivalState:    enumspb.ARCHIVAL_STATE_DISABLED,
			VisibilityArchivalState: enumspb.ARCHIVAL_STATE_DISABLED,
		},
		ReplicationConfig:           &persistencespb.NamespaceReplicationConfig{ActiveClusterName: clusterName, Clusters: []string{clusterName}},
		FailoverVersion:             common.EmptyVersion,
		FailoverNotificationVersion: -1,
	}
	if _, err := n.addAttributes(detail); err != nil {
		return err
	}
	blob, err := n.codec.NamespaceDetailToBlob(detail)
	if err != nil {
		return fmt.Errorf("make namespace %s: %w", name, err)
	}
	_, err = n.db.InsertIntoNamespace(ctx, &sqlplugin.NamespaceRow{
		ID: primitives.MustParseUUID(id.String()), Name: name,
		Data: blob.GetData(), DataEncoding: blob.GetEncodingType().String(),
	})
	if err != nil {
		return fileFault(n.file, "make namespace "+name+" in", err)
	}
	return nil
}

// update adds search attributes to a namespace that exists and, if it was
// named, sets the retention asked for.
func (n *namespaces) update(ctx context.Context, row sqlplugin.NamespaceRow, named bool) error {
	detail, err := n.codec.NamespaceDetailFromBlob(persistence.NewDataBlob(row.Data, row.DataEncoding))
	if err != nil {
		return fileFault(n.file, "read namespace "+row.Name+" of", err)
	}
	if detail.Config == nil {
		detail.Config = &persistencespb.NamespaceConfig{}
	}
	changed, err := n.addAttributes(detail)
	if err != nil {
		return err
	}
	if r := n.plan.Retention; named && r != 0 && detail.Config.GetRetention().AsDuration() != r {
		detail.Config.Retention = durationpb.New(r)
		changed = true
	}
	if !changed {
		return nil
	}
	detail.ConfigVersion++
	blob, err := n.codec.NamespaceDetailToBlob(detail)
	if err != nil {
		return fmt.Errorf("change namespace %s: %w", row.Name, err)
	}
	row.Data, row.DataEncoding = blob.GetData(), blob.GetEncodingType().String()
	if _, err := n.db.UpdateNamespace(ctx, &row); err != nil {
		return fileFault(n.file, "change namespace "+row.Name+" of", err)
	}
	return nil
}

// addAttributes gives each wanted search attribute one of the columns the
// schema keeps for its type.
func (n *namespaces) addAttributes(detail *persistencespb.NamespaceDetail) (changed bool, err error) {
	columns := sadefs.GetDBIndexSearchAttributes(nil).CustomSearchAttributes
	taken := detail.Config.GetCustomSearchAttributeAliases()
	have := map[string]enumspb.IndexedValueType{}
	for column, alias := range taken {
		have[alias] = columns[column]
	}
	for _, name := range slices.Sorted(maps.Keys(n.plan.attrs)) {
		want := n.plan.attrs[name]
		if got, ok := have[name]; ok {
			if got != want {
				return false, fault.New(fault.Config, "add search attribute "+name, fmt.Sprintf("Use it as %s or choose another name.", got), "namespace %s has it as %s, not %s", detail.GetInfo().GetName(), got, want)
			}
			continue
		}
		column := freeColumn(columns, taken, want)
		if column == "" {
			return false, fault.New(fault.Config, "add search attribute "+name, "Use fewer of this type.", "namespace %s has no room for another %s", detail.GetInfo().GetName(), want)
		}
		if taken == nil {
			taken = map[string]string{}
		}
		taken[column] = name
		changed = true
	}
	detail.Config.CustomSearchAttributeAliases = taken
	return changed, nil
}

func freeColumn(columns map[string]enumspb.IndexedValueType, taken map[string]string, want enumspb.IndexedValueType) string {
	for _, c := range slices.Sorted(maps.Keys(columns)) {
		if _, used := taken[c]; columns[c] == want && !used {
			return c
		}
	}
	return ""
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
