package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// The longest files that are read while clients are served, in bytes. What a vindex names may come from a client, by ALTER
// VSCHEMA.
const (
	maxVSchema    = 64 << 20
	maxVindexFile = 16 << 20
)

// withoutWaiting opens a file of which it is not known whether it is a regular one: a FIFO would wait for a writer.
const withoutWaiting = os.O_RDONLY | syscall.O_NONBLOCK

// readRegular reads a file that has an end: neither a FIFO nor a device.
func readRegular(path string, longest int64) ([]byte, error) {
	f, err := os.OpenFile(path, withoutWaiting, 0)
	if err != nil {
		return nil, err
	}
	return readOpen(f, longest)
}

// readWithin is readRegular for a file in a folder or below it, by its path from there or an absolute one. No path and no
// symbolic link leads out.
func readWithin(folder, path string, longest int64) ([]byte, error) {
	if filepath.IsAbs(path) {
		absolute, err := filepath.Abs(folder)
		if err != nil {
			return nil, err
		}
		if path, err = filepath.Rel(absolute, path); err != nil {
			return nil, err
		}
	}
	if !filepath.IsLocal(path) {
		return nil, errors.New("the file is not in the folder of the vschema: move it there, and write its path from there")
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(path, withoutWaiting, 0)
	if err = errors.Join(err, root.Close()); err != nil {
		return nil, errors.New(readError(err)) // whoever altered the vschema knows the path
	}
	return readOpen(f, longest)
}

// readOpen reads a file to its end, and closes it.
func readOpen(f *os.File, longest int64) (data []byte, err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	}
	data, err = io.ReadAll(io.LimitReader(f, longest+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > longest:
		return nil, fmt.Errorf("the file is longer than %d MiB", longest>>20)
	}
	return data, nil
}
