// Creates a deposit with Sluice and takes its callback. Go 1.21 or newer, the standard library.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	toleranceS   = 300
	maxBodyBytes = 65_536
)

var headerShape = regexp.MustCompile(`^t=([1-9][0-9]{0,11})((?:,v1=[0-9a-f]{64}){1,4})$`)

func sign(secret, prefix string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(prefix))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// isGenuine takes the body as it came over the wire, not what a parser made of it.
func isGenuine(secrets []string, header string, body []byte, nowS int64) bool {
	match := headerShape.FindStringSubmatch(header)
	if match == nil {
		return false
	}
	t := match[1]
	genuine := false
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		expected := []byte(sign(secret, t+".", body))
		for _, given := range strings.Split(match[2], ",v1=")[1:] {
			genuine = hmac.Equal(expected, []byte(given)) || genuine
		}
	}
	at, err := strconv.ParseInt(t, 10, 64)
	return err == nil && genuine && max(nowS-at, at-nowS) <= toleranceS
}

type order struct {
	TxnID string `json:"txn_id"`
	Link  string `json:"link"`
}

func createDeposit(baseURL, appID, secret string) (order, error) {
	var made order
	target, err := url.Parse(baseURL + "/payment/deposit")
	if err != nil {
		return made, err
	}
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return made, err
	}
	body, err := json.Marshal(map[string]any{
		"refId":       "go-" + hex.EncodeToString(id),
		"userId":      "user-42",
		"amount":      250,
		"accountName": "Somchai Jaidee",
		"accountNo":   "1234567890",
		"bankCode":    "SCB",
		"timestamp":   time.Now().UTC().Format(time.RFC3339),
	})
	if err != nil {
		return made, err
	}
	request, err := http.NewRequest(http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return made, err
	}
	t := strconv.FormatInt(time.Now().Unix(), 10)
	signature := sign(secret, t+".POST "+target.RequestURI()+".", body)
	request.Header.Set("content-type", "application/json")
	request.Header.Set("x-appid", appID)
	request.Header.Set("x-signature", "t="+t+",v1="+signature)
	client := http.Client{Timeout: 10 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return made, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return made, err
	}
	if response.StatusCode >= 300 {
		return made, fmt.Errorf("%s: %s", response.Status, answer)
	}
	return made, json.Unmarshal(answer, &made)
}

func takeCallback(secrets []string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
		if err != nil || !isGenuine(secrets, r.Header.Get("x-signature"), body, time.Now().Unix()) {
			fmt.Println("refused")
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"code":1,"message":"not genuine"}`)
			return
		}
		var callback struct {
			RefID  string      `json:"refId"`
			Status string      `json:"status"`
			Amount json.Number `json:"amount"`
		}
		if err := json.Unmarshal(body, &callback); err != nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		// It can come more than once: what counts is transactionId, status and successAt together.
		fmt.Println("verified", callback.RefID, callback.Status, callback.Amount)
		io.WriteString(w, `{"code":0}`)
	}
}

func checkVectors(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	type vector struct {
		Name, Kind, T, Method, Path, Body, Header, Reason string
		Secrets                                           []string
		Now                                               time.Time
	}
	var all struct{ Signed, Refused []vector }
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	count := 0
	for _, v := range all.Signed {
		prefix := v.T + "."
		if v.Kind == "request" {
			prefix += v.Method + " " + v.Path + "."
		}
		made := "t=" + v.T
		for _, secret := range v.Secrets {
			made += ",v1=" + sign(secret, prefix, []byte(v.Body))
		}
		at, _ := strconv.ParseInt(v.T, 10, 64)
		if made != v.Header || v.Kind == "callback" && !isGenuine(v.Secrets, v.Header, []byte(v.Body), at) {
			return fmt.Errorf("vector failed: %s", v.Name)
		}
		count++
	}
	for _, v := range all.Refused {
		// What is genuine and no callback is for whoever reads the body to see.
		if v.Reason == "body_malformed" {
			continue
		}
		if isGenuine(v.Secrets, v.Header, []byte(v.Body), v.Now.Unix()) {
			return fmt.Errorf("vector failed: %s", v.Name)
		}
		count++
	}
	fmt.Println("vectors", count)
	return nil
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "--vectors" {
		if err := checkVectors(os.Args[2]); err != nil {
			log.Fatal(err)
		}
		return
	}
	secrets := strings.Split(os.Getenv("SLUICE_SECRETS"), ",") // newest first
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		made, err := createDeposit(os.Getenv("SLUICE_URL"), os.Getenv("SLUICE_APP_ID"), secrets[0])
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("created", made.TxnID, made.Link)
	}()
	log.Fatal(http.Serve(listener, takeCallback(secrets)))
}
