//go:build !unix

package file_test

import "errors"

func makeFIFO(string) error { return errors.ErrUnsupported }
