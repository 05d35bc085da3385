// The program moduleproxy writes modules into a folder for a file URL in GOPROXY.
//
//	moduleproxy -out FOLDER -version v0.1.0 MODULE=FOLDER ...
package main

import (
	"archive/zip"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	out := flag.String("out", "", "the folder of the proxy")
	version := flag.String("version", "", "the version of all modules")
	licences := flag.String("licences", "", "a folder whose LICENSE files are added to each module")
	flag.Parse()
	for _, argument := range flag.Args() {
		module, folder, ok := strings.Cut(argument, "=")
		if !ok {
			log.Fatalf("%s: expected MODULE=FOLDER", argument)
		}
		if err := write(*out, *version, *licences, module, folder); err != nil {
			log.Fatal(err)
		}
	}
}

func write(out, version, licences, module, folder string) error {
	place := filepath.Join(out, module, "@v")
	if err := os.MkdirAll(place, 0o755); err != nil {
		return err
	}
	manifest, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return err
	}
	// A fixed time, so that the same files produce the same archive.
	info := fmt.Sprintf("{\"Version\":%q,\"Time\":%q}\n", version, time.Unix(0, 0).UTC().Format(time.RFC3339))
	for name, text := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": []byte(info), version + ".mod": manifest} {
		if err := os.WriteFile(filepath.Join(place, name), text, 0o644); err != nil {
			return err
		}
	}
	archive, err := os.Create(filepath.Join(place, version+".zip"))
	if err != nil {
		return err
	}
	writer := zip.NewWriter(archive)
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			// A folder with a go.mod is another module.
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && name != "." || entry.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if entry.Name() == ".gitignore" {
			return nil
		}
		return add(writer, path, module+"@"+version+"/"+filepath.ToSlash(name))
	})
	found, globbed := filepath.Glob(filepath.Join(licences, "LICENSE*"))
	for _, path := range found {
		err = errors.Join(err, add(writer, path, module+"@"+version+"/"+filepath.Base(path)))
	}
	return errors.Join(err, globbed, writer.Close(), archive.Close())
}

func add(writer *zip.Writer, path, name string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	entry, err := writer.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(entry, file)
	return err
}
