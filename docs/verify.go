// Checks a proof file, or each record of a visitor's download, with Go's own transparency-log library, golang.org/x/mod:
// go run verify.go FILE KEY
package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
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

// What a proof file proves: this entry is at this place of this log.
type proven struct {
	entry       []byte
	index, size int64
	origin      string
}

func prove(file string, keys note.Verifiers) (found proven, err error) {
	head, checkpoint, _ := strings.Cut(file, "\n\n")
	lines := strings.Split(head, "\n") // version, extra, index, hashes
	if len(lines) < 3 || lines[0] != "c2sp.org/tlog-proof@v1" {
		return found, fmt.Errorf("it is not a proof file")
	}
	if found.entry, err = base64.StdEncoding.DecodeString(strings.TrimPrefix(lines[1], "extra ")); err != nil {
		return
	}
	if found.index, err = strconv.ParseInt(strings.TrimPrefix(lines[2], "index "), 10, 64); err != nil {
		return
	}
	var proof tlog.RecordProof
	for _, line := range lines[3:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return found, err
		}
		proof = append(proof, hash)
	}
	signed, err := note.Open([]byte(checkpoint), keys)
	if err != nil {
		return
	}
	text := strings.Split(signed.Text, "\n") // origin, size, root
	if len(text) < 3 || text[0] != signed.Sigs[0].Name {
		return found, fmt.Errorf("the checkpoint is not one of %s", signed.Sigs[0].Name)
	}
	found.origin = text[0]
	if found.size, err = strconv.ParseInt(text[1], 10, 64); err != nil {
		return
	}
	root, err := tlog.ParseHash(text[2])
	if err != nil {
		return
	}
	return found, tlog.CheckRecord(proof, found.size, root, found.index, tlog.RecordHash(found.entry))
}

type record struct {
	Id, Domain, DomainId, Decision, DecidedAt, Circumstances, Private string
	Preferences                                                       map[string]bool
}

type opening struct{ Salt, Text string }

// What is stored about a visitor, as the dashboard's Download saves it.
type download struct {
	VisitorId string
	Records   []record
	Proofs    map[string]string
	Bundles   map[string]struct {
		Opening struct{ Circumstances, Private *opening }
	}
}

var errErased = errors.New("its personal fields are erased, so nothing proves whose record it was")

// The entry is this record's, and what the log committed to is of this visitor.
func (visitor download) prove(claimed record, name string, keys note.Verifiers) (proven, error) {
	found, err := prove(visitor.Proofs[name], keys)
	if err != nil {
		return found, err
	}
	var entry record
	if err := json.Unmarshal(found.entry, &entry); err != nil {
		return found, err
	}
	if entry.Id != claimed.Id || entry.Domain != claimed.DomainId || entry.Decision != claimed.Decision || entry.DecidedAt != claimed.DecidedAt {
		return found, fmt.Errorf("the log has %s, which is not this record", found.entry)
	}
	opened := visitor.Bundles[name].Opening
	if err := open(opened.Circumstances, entry.Circumstances); err != nil {
		return found, err
	}
	var committed record
	if err := json.Unmarshal([]byte(opened.Circumstances.Text), &committed); err != nil {
		return found, err
	}
	if fmt.Sprint(committed.Preferences) != fmt.Sprint(claimed.Preferences) { // in the order of their names
		return found, fmt.Errorf("the log committed to the categories %v", committed.Preferences)
	}
	if opened.Private == nil {
		return found, errErased
	}
	if err := open(opened.Private, entry.Private); err != nil {
		return found, err
	}
	var private struct{ VisitorId string }
	if err := json.Unmarshal([]byte(opened.Private.Text), &private); err != nil {
		return found, err
	}
	if private.VisitorId != visitor.VisitorId {
		return found, fmt.Errorf("it is a record of another visitor, %s", private.VisitorId)
	}
	return found, nil
}

// base64url(SHA-256(salt ‖ text)) is what the entry committed to.
func open(with *opening, commitment string) error {
	if with == nil {
		return fmt.Errorf("its bundle is missing")
	}
	salt, err := hex.DecodeString(with.Salt)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(append(salt, with.Text...))
	if base64.RawURLEncoding.EncodeToString(sum[:]) != commitment {
		return fmt.Errorf("%s is not what the log committed to", with.Text)
	}
	return nil
}

func main() {
	file, err := os.ReadFile(os.Args[1])
	check(err)
	// a log has several keys once its key was rotated, and each domain has a log, a line each
	var list []note.Verifier
	for _, line := range strings.Fields(os.Args[2]) {
		key, err := note.NewVerifier(line)
		check(err)
		list = append(list, key)
	}
	keys := note.VerifierList(list...)
	if !strings.HasPrefix(string(file), "{") {
		found, err := prove(string(file), keys)
		check(err)
		fmt.Printf("entry %d of %d in %s:\n%s\n", found.index, found.size, found.origin, found.entry)
		return
	}
	var visitor download
	check(json.Unmarshal(file, &visitor))
	held := 0
	named := map[string]bool{}
	for _, each := range visitor.Records {
		name := each.Id
		if named[name] { // a record of another domain, with the same id
			name = each.DomainId + "/" + each.Id
		}
		named[name] = true
		if visitor.Proofs[name] == "" {
			fmt.Printf("%s: no proof, it was not sealed yet\n", each.Id)
		} else if found, err := visitor.prove(each, name, keys); err == errErased {
			fmt.Printf("%s: no proof, %v\n", each.Id, err)
		} else if err != nil {
			fmt.Printf("%s: does not hold: %v\n", each.Id, err)
		} else {
			held++
			fmt.Printf("%s: holds, %s at %s, entry %d of %d in %s\n", each.Id, each.Decision, each.DecidedAt, found.index, found.size, found.origin)
		}
	}
	fmt.Printf("%d of %d records of the visitor %s hold\n", held, len(visitor.Records), visitor.VisitorId)
	if held == 0 || held < len(visitor.Records) {
		os.Exit(1)
	}
}
