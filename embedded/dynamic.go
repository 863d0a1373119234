package embedded

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.temporal.io/server/common/dynamicconfig"

	"github.com/holodeck-run/holodeck/fault"
)

// dynamicKeys lists the server's settings, one a line: the server can say
// whether it knows one, but not which it knows. A test holds it to the module.
//
//go:embed dynamic_keys.txt
var dynamicKeys string

// queueRPS is how often a history queue may look for new tasks. The server's
// default of 20 makes each step of a workflow wait up to 50 ms once a burst
// is spent. Queues are woken by events, so an idle server looks no more often.
const queueRPS = 100_000

// dynamicDefaults are the settings of a fast server for one developer.
func dynamicDefaults() dynamicconfig.StaticClient {
	d := dynamicconfig.StaticClient{}
	set := func(s dynamicconfig.GenericSetting, v any) { d[s.Key()] = v }
	for _, s := range []dynamicconfig.GenericSetting{
		dynamicconfig.TransferProcessorMaxPollRPS, dynamicconfig.TransferProcessorMaxPollHostRPS,
		dynamicconfig.TimerProcessorMaxPollRPS, dynamicconfig.TimerProcessorMaxPollHostRPS,
		dynamicconfig.VisibilityProcessorMaxPollRPS, dynamicconfig.VisibilityProcessorMaxPollHostRPS,
		dynamicconfig.OutboundProcessorMaxPollRPS, dynamicconfig.OutboundProcessorMaxPollHostRPS,
		dynamicconfig.ArchivalProcessorMaxPollRPS, dynamicconfig.ArchivalProcessorMaxPollHostRPS,
	} {
		set(s, queueRPS)
	}
	// A cap on what a lost notice costs a waiting client; see notifier.
	set(dynamicconfig.HistoryLongPollExpirationInterval, 2*time.Second)
	set(dynamicconfig.MatchingNumTaskqueueReadPartitions, 1)
	set(dynamicconfig.MatchingNumTaskqueueWritePartitions, 1)
	set(dynamicconfig.EnableEagerWorkflowStart, true)

	// What the official development server sets.
	set(dynamicconfig.HistoryCacheHostLevelMaxSize, 8096)
	set(dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance, 100)
	set(dynamicconfig.FrontendPersistenceMaxQPS, 10_000)
	set(dynamicconfig.HistoryPersistenceMaxQPS, 45_000)
	set(dynamicconfig.ForceSearchAttributesCacheRefreshOnRead, true)
	set(dynamicconfig.ForceNexusEndpointRefreshOnRead, true)
	set(dynamicconfig.EnableChasm, true)
	d[dynamicconfig.MakeKey("activity.enableStandalone")] = true
	return d
}

// dynamicConfig lays the entries KEY=JSON over the defaults.
func dynamicConfig(entries []string) (dynamicconfig.StaticClient, error) {
	d := dynamicDefaults()
	var faults []error
	for _, e := range entries {
		values, err := dynamicEntry(e)
		if err != nil {
			faults = append(faults, err)
		}
		maps.Copy(d, values)
	}
	if len(faults) == 1 {
		return nil, faults[0]
	}
	if err := errors.Join(faults...); err != nil {
		return nil, &fault.Error{Kind: fault.Config, Op: "read the dynamic configuration", Err: err}
	}
	return d, nil
}

func dynamicEntry(entry string) (dynamicconfig.StaticClient, error) {
	op := "read --dynamic-config-value"
	key, raw, ok := strings.Cut(entry, "=")
	if !ok {
		return nil, fault.New(fault.Config, op, "Write KEY=VALUE, the value as JSON.", "%q has no value", entry)
	}
	key, raw = strings.TrimSpace(key), strings.TrimSpace(raw)
	if !json.Valid([]byte(raw)) {
		return nil, fault.New(fault.Config, op, `Write the value as JSON: 10, true or "2s".`, "the value of %s is not JSON: %s", key, raw)
	}
	// The server reads its settings from YAML, and checks them on the way;
	// all JSON is YAML.
	quoted, err := json.Marshal(key)
	if err != nil {
		return nil, fault.New(fault.Config, op, "Write KEY=VALUE, the value as JSON.", "the key %q cannot be read: %v", key, err)
	}
	loaded := dynamicconfig.LoadYamlFile(fmt.Appendf(nil, `{%s: [{"value": %s}]}`, quoted, raw))
	if complaints := append(loaded.Warnings, loaded.Errors...); len(complaints) > 0 {
		if strings.HasPrefix(complaints[0].Error(), "unregistered key") {
			return nil, fault.New(fault.Config, op, fault.NearestOr(key, dynamicKeyList(), "Look for the name in the server's documentation."), "the server has no setting %s", key)
		}
		cause := complaints[0]
		if inner := errors.Unwrap(cause); inner != nil {
			cause = inner
		}
		return nil, fault.New(fault.Config, op, "Give the type of value the setting has.", "%s cannot be %s: %v", key, raw, cause)
	}
	d := dynamicconfig.StaticClient{}
	for k, v := range loaded.Map {
		d[k] = v
	}
	return d, nil
}

func dynamicKeyList() []string {
	return slices.Collect(strings.SplitSeq(strings.TrimSpace(dynamicKeys), "\n"))
}
