// Pays a deposit in the sandbox through a client that oapi-codegen makes of /openapi.json.
package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"example.com/pay/sluice"
)

const amount = 123_456_789

func sign(_ context.Context, request *http.Request) error {
	var body []byte
	if request.Body != nil {
		read, err := io.ReadAll(request.Body)
		if err != nil {
			return err
		}
		body = read
		request.Body = io.NopCloser(bytes.NewReader(body))
	}
	t := time.Now().Unix()
	mac := hmac.New(sha256.New, []byte(os.Getenv("SLUICE_SECRET")))
	fmt.Fprintf(mac, "%d.%s %s.", t, request.Method, request.URL.RequestURI())
	mac.Write(body)
	request.Header.Set("x-appid", os.Getenv("SLUICE_APP_ID"))
	request.Header.Set("x-signature", fmt.Sprintf("t=%d,v1=%x", t, mac.Sum(nil)))
	return nil
}

func main() {
	client, err := sluice.NewClientWithResponses(os.Getenv("SLUICE_URL"), sluice.WithRequestEditorFn(sign))
	if err != nil {
		log.Fatal(err)
	}
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	created, err := client.CreateDepositWithResponse(ctx, sluice.OrderRequest{
		RefId:       "go-" + hex.EncodeToString(id),
		UserId:      "user-42",
		Amount:      amount,
		AccountName: "Somchai Jaidee",
		AccountNo:   "123-4-56789-0",
		BankCode:    "SCB",
		Timestamp:   time.Now().Format(time.RFC3339Nano),
	})
	if err != nil || created.JSON201 == nil {
		log.Fatal("not created: ", err, string(created.Body))
	}
	txnID := created.JSON201.TxnId
	paid, err := client.TriggerOutcomeWithResponse(ctx, txnID, sluice.TriggerRequest{Outcome: "PAID"})
	if err != nil || paid.JSON200 == nil {
		log.Fatal("not paid: ", err, string(paid.Body))
	}
	read, err := client.GetOrderWithResponse(ctx, txnID)
	if err != nil || read.JSON200 == nil {
		log.Fatal("not read: ", err, string(read.Body))
	}
	order, err := read.JSON200.AsDepositOrder()
	if err != nil || order.Status != "PAID" || order.PaidAmount == nil || *order.PaidAmount != amount {
		log.Fatal("not as paid: ", err, string(read.Body))
	}
	fmt.Println("paid", txnID, int64(*order.PaidAmount))
}
