package embedded

import (
	"crypto/sha256"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	sdkworker "go.temporal.io/sdk/worker"
)

// nameBinary tells the SDK what this program is called in histories. Left
// alone, the first worker of the process hashes the whole executable, which
// takes a third of a second for one with a server in it. What it was built
// from, its size and its time tell builds apart as well.
var nameBinary = sync.OnceFunc(func() {
	path, err := os.Executable()
	if err != nil {
		return // the SDK will say so
	}
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	h := sha256.New()
	if build, ok := debug.ReadBuildInfo(); ok {
		fmt.Fprintln(h, build)
	}
	fmt.Fprintln(h, info.Size(), info.ModTime().UnixNano())
	sdkworker.SetBinaryChecksum(fmt.Sprintf("%x", h.Sum(nil)[:16]))
})
