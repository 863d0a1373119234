package embedded

import "os"

func prepareFile(file string) (fresh bool, err error) {
	info, err := os.Stat(file)
	if os.IsNotExist(err) || err == nil && info.Size() == 0 {
		return true, nil
	}
	return false, err
}
