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
	key, err := note.NewVerifier(os.Args[2])
	check(err)
	signed, err := note.Open([]byte(checkpoint), note.VerifierList(key))
	check(err)
	text := strings.Split(signed.Text, "\n") // origin, size, root
	size, err := strconv.ParseInt(text[1], 10, 64)
	check(err)
	root, err := tlog.ParseHash(text[2])
	check(err)
	check(tlog.CheckRecord(proof, size, root, index, tlog.RecordHash(entry)))
	fmt.Printf("entry %d of %d in %s:\n%s\n", index, size, text[0], entry)
}
