package main

import (
	"bytes"
	"path/filepath"

	"github.com/seqgate/seqgate/vschema"
)

// readFiles is what files held when they were read; nil for one that could not be read.
type readFiles map[readFile][]byte

// readFile is a vschema, or with a folder a file in it that one of its vindexes names.
type readFile struct{ folder, path string }

func (f readFiles) read(file readFile) ([]byte, error) {
	data, err := file.read()
	f[file] = data
	return data, err
}

func (file readFile) read() ([]byte, error) {
	if file.folder == "" {
		return readRegular(file.path, maxVSchema)
	}
	return readWithin(file.folder, file.path, maxVindexFile)
}

// changed reports whether any file holds something else now.
func (f readFiles) changed() bool {
	now := readFiles{}
	for file, data := range f {
		if current, err := now.read(file); !bytes.Equal(current, data) || (err == nil) != (data != nil) {
			return true
		}
	}
	return false
}

// readVSchema reads a vschema and the files that its vindexes name, which are in its folder. files has all of them. The
// error is a vschema.Errors.
func readVSchema(path string) (v *vschema.VSchema, files readFiles, err error) {
	files = readFiles{}
	data, err := files.read(readFile{path: path})
	if err != nil {
		return nil, files, vschema.Errors{{File: path, Message: readError(err)}}
	}
	v, err = files.parse(path, data)
	return v, files, err
}

// parse is readVSchema of a text that is to be in the file.
func (f readFiles) parse(path string, data []byte) (*vschema.VSchema, error) {
	read := func(name string) ([]byte, error) { return f.read(readFile{filepath.Dir(path), name}) }
	v, err := vschema.Loader{Read: read, CheckGenerator: checkGenerator, Counter: redisServer}.Load(path, data)
	if err != nil {
		return nil, err
	}
	if unserved := v.Unserved(); len(unserved) > 0 {
		return nil, unserved
	}
	return v, nil
}
