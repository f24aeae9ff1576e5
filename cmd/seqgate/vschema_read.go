package main

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/seqgate/seqgate/vschema"
)

// readFiles is what files held when they were read, by their paths; nil for one that could not be read.
type readFiles map[string][]byte

func (f readFiles) read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		data = nil
	}
	f[path] = data
	return data, err
}

// changed reports whether any file holds something else now.
func (f readFiles) changed() bool {
	now := readFiles{}
	for path, data := range f {
		if current, err := now.read(path); !bytes.Equal(current, data) || (err == nil) != (data != nil) {
			return true
		}
	}
	return false
}

// readVSchema reads a vschema and the files that its vindexes name, which are beside it unless their paths are absolute.
// files has all of them. The error is a vschema.Errors.
func readVSchema(path string) (v *vschema.VSchema, files readFiles, err error) {
	files = readFiles{}
	data, err := files.read(path)
	if err != nil {
		return nil, files, vschema.Errors{{File: path, Message: readError(err)}}
	}
	v, err = files.parse(path, data)
	return v, files, err
}

// parse is readVSchema of a text that is to be in the file.
func (f readFiles) parse(path string, data []byte) (*vschema.VSchema, error) {
	read := func(beside string) ([]byte, error) {
		if !filepath.IsAbs(beside) {
			beside = filepath.Join(filepath.Dir(path), beside)
		}
		return f.read(beside)
	}
	v, err := vschema.Loader{Read: read, CheckGenerator: checkGenerator, Counter: redisServer}.Load(path, data)
	if err != nil {
		return nil, err
	}
	if unserved := v.Unserved(); len(unserved) > 0 {
		return nil, unserved
	}
	return v, nil
}
