// Checks a proof file with Go's own transparency-log library, golang.org/x/mod: go run verify.go FILE KEY
package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func check(err error) {
	if err != nil {
		fmt.Println("does not hold:", err)
		os.Exit(1)
	}
}

func main() {
	file, err := os.ReadFile(os.Args[1])
	check(err)
	head, checkpoint, _ := strings.Cut(string(file), "\n\n")
	lines := strings.Split(head, "\n") // version, extra, index, hashes
	if len(lines) < 3 || lines[0] != "c2sp.org/tlog-proof@v1" {
		check(fmt.Errorf("%s is not a proof file", os.Args[1]))
	}
	entry, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(lines[1], "extra "))
	check(err)
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[2], "index "), 10, 64)
	check(err)
	var proof tlog.RecordProof
	for _, line := range lines[3:] {
		hash, err := tlog.ParseHash(line)
		check(err)
		proof = append(proof, hash)
	}
	// a log has several keys once its key was rotated, a line each
	var keys []note.Verifier
	for _, line := range strings.Fields(os.Args[2]) {
		key, err := note.NewVerifier(line)
		check(err)
		keys = append(keys, key)
	}
	signed, err := note.Open([]byte(checkpoint), note.VerifierList(keys...))
	check(err)
	text := strings.Split(signed.Text, "\n") // origin, size, root
	if len(text) < 3 || text[0] != signed.Sigs[0].Name {
		check(fmt.Errorf("the checkpoint is not one of %s", signed.Sigs[0].Name))
	}
	size, err := strconv.ParseInt(text[1], 10, 64)
	check(err)
	root, err := tlog.ParseHash(text[2])
	check(err)
	check(tlog.CheckRecord(proof, size, root, index, tlog.RecordHash(entry)))
	fmt.Printf("entry %d of %d in %s:\n%s\n", index, size, text[0], entry)
}
