// Command fixed is the Go server of a public comparison of gRPC servers with its bugs fixed. The
// secret is a secret and not the name of a variable. The addresses exist when they are used. The
// index is not a data race. An unknown algorithm is an error instead of ES256. jeton's server is
// compared with it: grpc-go and golang-jwt, used as their documentation shows.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"

	"google.golang.org/grpc"

	"jeton.example/servers/go/fixed/report"
)

func main() {
	log.SetFlags(0)
	listen := flag.String("listen", "127.0.0.1:0", "`address` to listen on; port 0 selects a free port")
	secret := flag.String("hs256", "", "`file` with the secret of HS256, at least 32 bytes (default: generated)")
	private := flag.String("es256", "", "`file` with the private key of ES256, PKCS#8 in PEM (default: generated)")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("fixed: %q is not an option", flag.Arg(0))
	}

	keys, err := loadKeys(*secret, *private)
	if err != nil {
		log.Fatalf("fixed: %v", err)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatalf("fixed: %v", err)
	}
	server := grpc.NewServer()
	report.RegisterJwtServiceServer(server, newService(keys))

	stop, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	go func() {
		<-stop.Done()
		server.GracefulStop()
	}()
	fmt.Printf("listening on %s\n", listener.Addr())
	if err := server.Serve(listener); err != nil {
		log.Fatalf("fixed: %v", err)
	}
}
