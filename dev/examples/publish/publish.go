// Publishes an event, the same again, and a wrong one; then reads on from the place of the first.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
	"github.com/synadia-io/orbit.go/jetstreamext"
)

type answer struct {
	Tag       string `json:"_tag"`
	Sequence  uint64
	Duplicate bool
	Faults    []struct{ Path, Message string }
	Detail    string
}

// Within two minutes an event with the same id is stored once: after a timeout or Unavailable, send the same again.
func publish(connection *nats.Conn, id string, details map[string]any) (told answer) {
	message := nats.NewMsg("publish.order.created")
	message.Header.Set(nats.MsgIdHdr, id)
	message.Data, _ = json.Marshal(map[string]any{
		"event":              "order.created",
		"eventSchemaVersion": "1.0.0",
		"occurredAt":         time.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		"details":            details,
	})
	reply, err := connection.RequestMsg(message, 5*time.Second)
	check(err)
	check(json.Unmarshal(reply.Data, &told))
	switch told.Tag {
	case "Stored":
		fmt.Printf("stored as %d%s\n", told.Sequence, map[bool]string{true: ", a duplicate"}[told.Duplicate])
	case "Refused":
		for _, fault := range told.Faults {
			fmt.Printf("refused: %s %s\n", fault.Path, fault.Message)
		}
	default:
		fmt.Printf("unavailable: %s\n", told.Detail)
	}
	return told
}

func main() {
	user := cmp.Or(os.Getenv("NATS_USER"), "internal-services")
	// Answers come to an inbox of the user's own; no other is allowed.
	connection, err := nats.Connect(cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL),
		nats.UserInfo(user, os.Getenv("NATS_PASSWORD")), nats.CustomInboxPrefix("_INBOX_"+user))
	check(err)
	defer connection.Close()

	id := nuid.Next()
	first := publish(connection, id, map[string]any{"id": "A-1"})
	publish(connection, id, map[string]any{"id": "A-1"})
	publish(connection, nuid.Next(), map[string]any{"id": 1})

	stream, err := jetstream.New(connection)
	check(err)
	found, err := jetstreamext.GetBatch(context.Background(), stream, "EVENTS", 256,
		jetstreamext.GetBatchSeq(first.Sequence), jetstreamext.GetBatchSubject("events-from.*.order.created"))
	check(err)
	for event, err := range found {
		if errors.Is(err, jetstreamext.ErrNoMessages) {
			break
		}
		check(err)
		fmt.Printf("read %d %s\n", event.Sequence, event.Subject)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
