package config

import (
	"bytes"
	"path/filepath"
	"time"

	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/vschema"
)

// Files is what files held when they were read; nil for one that could not be read.
type Files map[readFile][]byte

// readFile is a vschema, or with a folder a file in it that one of its vindexes names.
type readFile struct{ folder, path string }

func (f Files) read(file readFile) ([]byte, error) {
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

// Changed reports whether any file holds something else now.
func (f Files) Changed() bool {
	now := Files{}
	for file, data := range f {
		if current, err := now.read(file); !bytes.Equal(current, data) || (err == nil) != (data != nil) {
			return true
		}
	}
	return false
}

// ReadVSchema reads a vschema and the files that its vindexes name, which are in its folder. files has all of them, also with
// an error, which is a [vschema.Errors].
func ReadVSchema(path string) (v *vschema.VSchema, files Files, err error) {
	files = Files{}
	data, err := files.read(readFile{path: path})
	if err != nil {
		return nil, files, vschema.Errors{{File: path, Message: readError(err)}}
	}
	v, err = files.parse(path, data)
	return v, files, err
}

// VSchemaText returns what the file of a vschema holds, as ReadVSchema reads it: at most 64 MiB of a regular file.
func VSchemaText(path string) ([]byte, error) { return readRegular(path, maxVSchema) }

// ParseVSchema is ReadVSchema of a text that is to be in the file.
func ParseVSchema(path string, data []byte) (*vschema.VSchema, Files, error) {
	files := Files{readFile{path: path}: data}
	v, err := files.parse(path, data)
	return v, files, err
}

func (f Files) parse(path string, data []byte) (*vschema.VSchema, error) {
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

// checkGenerator is [generate.Check] at the time of loading.
func checkGenerator(g *vschema.Generator) []*vschema.ParamError {
	if g.Type == vschema.Redis {
		return checkRedisURL(g.Segments)
	}
	return generate.Check(g, time.Now())
}
