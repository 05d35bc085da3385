// Command published behaves like the Go server of a public comparison of gRPC servers. It keeps the
// server's bugs, so that the published figures can be reproduced:
//
//   - The secret of HS256 is used as the name of an environment variable. The variable is not set, so
//     every token is signed with an empty key.
//   - The number of addresses is read before there are any, so every token has the first address as
//     its subject.
//   - The index of the next address is a data race.
//   - An unknown algorithm is treated as ES256.
//
// Only the lab should run it. The lab reports these bugs beside its figures.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"

	"google.golang.org/grpc"

	"jeton.example/servers/go/published/report"
)

func main() {
	log.SetFlags(0)
	listen := flag.String("listen", "127.0.0.1:0", "`address` to listen on; port 0 selects a free port")
	secret := flag.String("hs256", "", "`file` with the secret of HS256")
	private := flag.String("es256", "", "`file` with the private key of ES256, PKCS#8 in PEM")
	flag.Parse()

	keys, err := loadKeys(*secret, *private)
	if err != nil {
		log.Fatalf("published: %v", err)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatalf("published: %v", err)
	}
	server := grpc.NewServer()
	report.RegisterJwtServiceServer(server, newService(keys))
	fmt.Printf("listening on %s\n", listener.Addr())
	if err := server.Serve(listener); err != nil {
		log.Fatalf("published: %v", err)
	}
}
