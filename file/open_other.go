//go:build !unix

package file

import "os"

const noHang = 0

func links(os.FileInfo) uint64 { return 1 }
