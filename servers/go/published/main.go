// Command published behaves like the Go server of a public comparison of gRPC servers, its bugs kept
// so that its published figures can be met again:
//
//   - the secret of HS256 is taken for the name of an environment variable, which is not set, so that
//     every token is signed with an empty key;
//   - how many addresses there are is read before there are any, so that every token has the first of
//     them for a subject;
//   - the index of the next address is a data race;
//   - an algorithm that is not known is ES256.
//
// Nobody should run it but the lab, which says all this beside its figures.
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
	listen := flag.String("listen", "127.0.0.1:0", "`address` to listen on; port 0 takes a free one")
	secret := flag.String("hs256", "", "`file` with the secret of HS256")
	private := flag.String("es256", "", "`file` with the private key of ES256, PKCS#8 as PEM")
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
