package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/seqgate/seqgate/proxy/admin"
	"github.com/seqgate/seqgate/vschema"
)

// VSchemaFile is the file of the vschema of a running seqgate: it is read again when it changes, and ALTER VSCHEMA
// writes it.
type VSchemaFile struct {
	Path    string // "" for none
	log     *slog.Logger
	current atomic.Pointer[config.Config] // with the vschema that is in force

	loaded, failed atomic.Int64 // reloads

	mu    sync.Mutex   // one reload or edit at a time; guards what follows
	files config.Files // as they were read last, whether they were right or not
	takes vschemaTaker
}

// vschemaTaker is what goes by the vschema.
type vschemaTaker interface {
	// CheckVSchema and SetVSchema return a vschema.Errors without a file.
	CheckVSchema(*vschema.VSchema) error
	SetVSchema(*vschema.VSchema) error
}

func newVSchemaFile(cfg *config.Config, log *slog.Logger) *VSchemaFile {
	f := &VSchemaFile{Path: cfg.VSchemaFile, files: cfg.VSchemaRead, log: log}
	f.current.Store(cfg)
	return f
}

// config returns the configuration with the vschema that is in force.
func (f *VSchemaFile) config() *config.Config { return f.current.Load() }

// counts returns how often the file was read again.
func (f *VSchemaFile) counts() admin.Reloads {
	return admin.Reloads{OK: f.loaded.Load(), Failed: f.failed.Load()}
}

// reload takes over a file that has changed. One that is wrong, or that asks for what a running seqgate cannot become,
// changes nothing; it is told once.
func (f *VSchemaFile) reload(asked bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Path == "" || !asked && !f.files.Changed() {
		return
	}
	v, files, err := config.ReadVSchema(f.Path)
	f.files = files
	if err == nil {
		err = f.Set(v)
	}
	if err != nil {
		f.failed.Add(1)
		f.log.Error("vschema not loaded, the old one stays", "err", err)
		return
	}
	f.loaded.Add(1)
	f.log.Info("vschema loaded", "file", f.Path, "keyspaces", len(v.Keyspaces()))
}

// Set puts a vschema into force. f.mu is held.
func (f *VSchemaFile) Set(v *vschema.VSchema) error {
	if err := config.CheckCounters(v); err != nil {
		return inFile(f.Path, err)
	}
	if err := f.takes.SetVSchema(v); err != nil {
		return inFile(f.Path, err)
	}
	cfg := *f.config()
	cfg.VSchema = v
	f.current.Store(&cfg)
	return nil
}

// inFile says in which file the errors are.
func inFile(path string, err error) error {
	var errs vschema.Errors
	if !errors.As(err, &errs) {
		return err
	}
	named := make(vschema.Errors, len(errs))
	for i, e := range errs {
		if e.File == "" {
			e.File = path
		}
		named[i] = e
	}
	return named
}

// alter makes an edit in the file and puts the result into force. What fails leaves both as they were. The error is a
// *vschema.EditError, a vschema.Errors or one of the file system's.
func (f *VSchemaFile) alter(_ context.Context, edit vschema.Edit) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	path, err := filepath.EvalSymlinks(f.Path) // the file is replaced, a link to it stays
	if err != nil {
		return err
	}
	unlock, err := lockFolder(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer unlock()
	data, err := config.VSchemaText(path)
	if err != nil {
		return err
	}
	if data, err = edit.Apply(data); err != nil {
		return err
	}
	v, files, err := config.ParseVSchema(f.Path, data)
	if err == nil {
		err = f.takes.CheckVSchema(v)
	}
	if err == nil {
		err = config.CheckCounters(v)
	}
	if err != nil {
		return err
	}
	if err := replaceFile(path, data); err != nil {
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	f.files = files
	if err := f.Set(v); err != nil {
		return err
	}
	f.log.Info("vschema altered", "file", f.Path)
	return nil
}

// replaceFile puts a new file with that text into the place of an old one, so that at any time, also after a crash, one
// of both is there whole.
func replaceFile(path string, data []byte) (err error) {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	folder := filepath.Dir(path)
	temp, err := os.CreateTemp(folder, "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	_, writeErr := temp.Write(data)
	if err := errors.Join(writeErr, temp.Chmod(info.Mode().Perm()), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	syncFolder(folder)
	return nil
}

// syncFolder makes a rename last. The file is replaced whether that works or not: not every file system has it.
func syncFolder(folder string) {
	if d, err := os.Open(folder); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
