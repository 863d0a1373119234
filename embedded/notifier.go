package embedded

import (
	"sync"

	"github.com/google/uuid"
	"go.temporal.io/server/common/definition"
	"go.temporal.io/server/service/history/events"
)

// pendingNotices is how many changes of one workflow wait for a slow reader.
const pendingNotices = 16

// notifier tells long polls of a workflow's history that it has changed.
//
// It replaces the server's own, which loses notices: each reader there has a
// channel of one, and what finds it full is thrown away. A client that waits
// for a result subscribes while the workflow runs; if its goroutine is not
// scheduled between two changes, the first fills the channel, the second (the
// workflow's end) is dropped, and the reader, seeing only the first, waits
// until history.longPollExpirationInterval is over: 20 s by default. The
// faster the steps follow each other, the more often that happens: about one
// in a hundred workflows of 10 ms.
//
// Here the oldest notice is dropped. Every notice carries the whole state, so
// a reader that sees the latest has missed nothing.
type notifier struct {
	mu      sync.Mutex
	readers map[definition.WorkflowKey]map[string]chan *events.Notification
}

var _ events.Notifier = (*notifier)(nil)

func newNotifier() events.Notifier {
	return &notifier{readers: map[definition.WorkflowKey]map[string]chan *events.Notification{}}
}

// Start does nothing.
func (n *notifier) Start() {}

// Stop does nothing.
func (n *notifier) Stop() {}

// NotifyNewHistoryEvent hands the notice to the readers of its workflow. It
// never waits.
func (n *notifier) NotifyNewHistoryEvent(notice *events.Notification) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.readers[notice.ID] {
		for {
			select {
			case c <- notice:
			default:
				select {
				case <-c:
				default:
				}
				continue
			}
			break
		}
	}
}

// WatchHistoryEvent subscribes to a workflow's changes.
func (n *notifier) WatchHistoryEvent(key definition.WorkflowKey) (string, chan *events.Notification, error) {
	id, c := uuid.NewString(), make(chan *events.Notification, pendingNotices)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.readers[key] == nil {
		n.readers[key] = map[string]chan *events.Notification{}
	}
	n.readers[key][id] = c
	return id, c, nil
}

// UnwatchHistoryEvent ends a subscription.
func (n *notifier) UnwatchHistoryEvent(key definition.WorkflowKey, id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.readers[key], id)
	if len(n.readers[key]) == 0 {
		delete(n.readers, key)
	}
	return nil
}
