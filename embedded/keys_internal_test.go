package embedded

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/server/common/dynamicconfig"
)

func TestEveryListedSettingIsKnownToTheServer(t *testing.T) {
	t.Parallel()
	for _, key := range dynamicKeyList() {
		for _, w := range dynamicconfig.LoadYamlFile([]byte(`"` + key + "\": [{value: 1}]\n")).Warnings {
			if strings.HasPrefix(w.Error(), "unregistered key") {
				t.Errorf("%s is listed but unknown", key)
			}
		}
	}
}

func TestEverySettingOfTheServerIsListed(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the server's source")
	}
	t.Parallel()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "go.temporal.io/server").Output()
	if err != nil {
		t.Skipf("the server's source is not at hand: %v", err)
	}
	setting := regexp.MustCompile(`New(?:Global|Namespace|NamespaceID|TaskQueue|ShardID|TaskType|Destination|ChasmTaskType)\w*Setting\w*(?:\[[^\]]*\])?\(\s*"([^"]+)"`)
	listed := dynamicKeyList()
	err = filepath.WalkDir(strings.TrimSpace(string(dir)), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range setting.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(listed, m[1]) {
				t.Errorf("%s is not listed in dynamic_keys.txt", m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
