package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// accepts lays out the files that the pod has, and lets the real server check its configuration. The paths are
// those of the pod, below a folder of its own.
func accepts(jeton string, o *objects) []string {
	root, err := os.MkdirTemp("", "jeton-pod-")
	if err != nil {
		fail(err)
	}
	defer os.RemoveAll(root)
	pod := &o.deployments[0].Spec.Template.Spec
	container := &pod.Containers[0]
	for _, mount := range container.VolumeMounts {
		for _, volume := range pod.Volumes {
			if volume.Name == mount.Name {
				place(root, mount.MountPath, &volume, o)
			}
		}
	}
	arguments := append([]string{}, container.Args...)
	for index, argument := range arguments {
		arguments[index] = strings.Replace(argument, "/etc/jeton", root+"/etc/jeton", 1)
	}
	checked := exec.Command(jeton, append(arguments, "--check")...)
	checked.Dir = root
	said, err := checked.CombinedOutput()
	switch {
	case err != nil:
		return []string{"jeton serve --check: " + strings.ReplaceAll(string(said), root, "")}
	case container.Command[0] != "/usr/bin/jeton":
		return []string{"the image has no " + container.Command[0]}
	}
	return nil
}

// place writes the files of a volume, with the mode that they have in the pod.
func place(root, folder string, volume *corev1.Volume, o *objects) {
	folder = filepath.Join(root, folder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		fail(err)
	}
	write := func(name, text string, mode os.FileMode) {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			fail(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			fail(err)
		}
	}
	if secret := volume.Secret; secret != nil {
		for _, item := range secret.Items {
			write(item.Path, secretText(item.Path), os.FileMode(*secret.DefaultMode))
		}
		return
	}
	if volume.ConfigMap == nil || volume.ConfigMap.Name != o.configMaps[0].Name {
		return
	}
	for name, text := range o.configMaps[0].Data {
		write(name, strings.ReplaceAll(text, `"/etc/jeton/`, `"`+root+`/etc/jeton/`), 0o644)
	}
}

var certificate, privateKey = selfSigned()

// secretText is what a Secret has under this name.
func secretText(name string) string {
	switch name {
	case "tls.crt", "ca.crt":
		return certificate
	case "tls.key":
		return privateKey
	case "password":
		return "password\n"
	}
	return strings.Repeat("5", 64)
}

func selfSigned() (string, string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		fail(err)
	}
	about := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "jeton"},
		DNSNames:              []string{"jeton.tokens.svc"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		fail(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		fail(err)
	}
	text := func(kind string, bytes []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}))
	}
	return text("CERTIFICATE", der), text("PRIVATE KEY", secret)
}
