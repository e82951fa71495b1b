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

// keyOf gives no key when the secret is none: whsec_ without 24 to 64 bytes in base64 after it, or fewer than 16 bytes.
func keyOf(secret string) []byte {
	encoded, isEncoded := strings.CutPrefix(secret, "whsec_")
	if !isEncoded {
		if len(secret) < 16 || strings.HasPrefix(secret, "v1,") {
			return nil
		}
		return []byte(secret)
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	// The decoder skips line breaks.
	if err != nil || len(key) < 24 || len(key) > 64 || base64.StdEncoding.EncodeToString(key) != encoded {
		return nil
	}
	return key
}

// Verify tells whether body is from who holds the secret and was sent within five minutes of now.
func Verify(secret string, headers Headers, body []byte, now time.Time) bool {
	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || id == "" || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	key := keyOf(secret)
	if key == nil {
		return false
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
