// Package webhook verifies a webhook by the headers of Standard Webhooks. It needs the standard library alone.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

const (
	tolerance     = 5 * time.Minute
	signaturesMax = 8
)

// Headers are those of a request: an http.Header, or what else finds a value whatever the case of its name.
type Headers interface {
	Get(name string) string
}

// Verify tells whether body is from who holds the secret and was sent within five minutes of now.
func Verify(secret string, headers Headers, body []byte, now time.Time) bool {
	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || id == "" || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	key := []byte(secret)
	if encoded, found := strings.CutPrefix(secret, "whsec_"); found {
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return false
		}
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	// While a secret is rotated the header holds a signature by each, with a space between them.
	for index, given := range strings.Split(headers.Get("webhook-signature"), " ") {
		if index < signaturesMax && hmac.Equal(expected, []byte(given)) {
			return true
		}
	}
	return false
}
