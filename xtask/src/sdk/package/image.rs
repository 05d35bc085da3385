//! The container image of the service: an OCI image layout in one tar file, which `podman load`, `docker load`, skopeo and
//! the clients of registries read. It has one manifest for each platform.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::failed;
use super::files::{self, Tree};
use super::target::Target;
use crate::command::{Error, Workspace, output, run as run_command};

/// The user of the container. It is in no system's list.
const USER: &str = "jeton:x:65532:65532:jeton:/var/lib/jeton:/sbin/nologin\n";
const GROUP: &str = "jeton:x:65532:\n";

/// How the container starts, as the OCI image specification has it.
const CONFIG: &str = "deploy/container/config.json";

const TYPE: &str = "application/vnd.oci.image";

/// Writes the image with the program for each platform.
pub(super) fn write(
    tree: &Tree<'_>,
    programs: &[(&'static Target, PathBuf)],
    file: &Path,
) -> Result<(), Error> {
    let workspace = tree.workspace;
    let work = workspace.target().join("package/image");
    let _ = fs::remove_dir_all(&work);
    let blobs = Blobs {
        workspace,
        folder: work.join("layout/blobs/sha256"),
        incoming: work.join("blob"),
    };
    files::make(&blobs.folder)?;
    let config =
        fs::read_to_string(workspace.path(CONFIG)).map_err(|error| failed(&work, &error))?;
    let config: Value = serde_json::from_str(&config)
        .map_err(|error| Error::Failed(format!("{CONFIG}: {error}")))?;
    let seconds = format!("@{}", tree.time);
    let mut date = workspace.command("date");
    let created = output(date.args(["-u", "-d", &seconds, "+%Y-%m-%dT%H:%M:%SZ"]))?;
    let mut manifests = Vec::new();
    for (target, program) in programs {
        let root = work.join(target.triple);
        root_file_system(tree, program, &root)?;
        let layer = work.join("layer.tar");
        write_layer(tree, &root, &layer)?;
        let unpacked = blobs.digest(&layer)?;
        run_command(workspace.command("gzip").arg("-nf").arg(&layer))?;
        let layer = blobs.add_file(&work.join("layer.tar.gz"), "layer.v1.tar+gzip")?;
        let platform = json!({"architecture": target.debian(), "os": "linux"});
        let mut image = platform.clone();
        image["created"] = created.trim().into();
        image["config"] = config.clone();
        image["rootfs"] = json!({"type": "layers", "diff_ids": [unpacked]});
        let image = blobs.add(&image, "config.v1+json")?;
        let manifest = json!({
            "schemaVersion": 2, "mediaType": format!("{TYPE}.manifest.v1+json"),
            "config": image, "layers": [layer],
        });
        let mut manifest = blobs.add(&manifest, "manifest.v1+json")?;
        manifest["platform"] = platform;
        manifests.push(manifest);
    }
    let index = |manifests: Value| json!({"schemaVersion": 2, "mediaType": format!("{TYPE}.index.v1+json"), "manifests": manifests});
    let mut image = blobs.add(&index(manifests.into()), "index.v1+json")?;
    image["annotations"] = json!({"org.opencontainers.image.ref.name": env!("CARGO_PKG_VERSION")});
    let layout = work.join("layout");
    files::write(
        &layout.join("index.json"),
        &index(json!([image])).to_string(),
    )?;
    files::write(
        &layout.join("oci-layout"),
        r#"{"imageLayoutVersion":"1.0.0"}"#,
    )?;
    run_command(
        tree.tar("0")
            .arg("-cf")
            .arg(file)
            .arg("-C")
            .arg(&layout)
            .arg("."),
    )?;
    let _ = fs::remove_dir_all(&work);
    eprintln!("== {}", file.display());
    Ok(())
}

fn root_file_system(tree: &Tree<'_>, program: &Path, root: &Path) -> Result<(), Error> {
    for part in ["usr/bin", "etc/jeton", "usr/share/doc/jeton", "var/lib"] {
        files::make(&root.join(part))?;
    }
    files::install(program, &root.join("usr/bin/jeton"), 0o755)?;
    files::write(&root.join("etc/passwd"), USER)?;
    files::write(&root.join("etc/group"), GROUP)?;
    files::documents(tree.workspace, &root.join("usr/share/doc/jeton"))?;
    files::publish(tree.workspace, root)
}

/// The layer: everything belongs to root, except the data folder, which belongs to the user of the service.
fn write_layer(tree: &Tree<'_>, root: &Path, layer: &Path) -> Result<(), Error> {
    run_command(
        tree.tar("0")
            .arg("-cf")
            .arg(layer)
            .arg("-C")
            .arg(root)
            .arg("."),
    )?;
    let data = root.join("var/lib/jeton");
    files::make(&data)?;
    files::set_mode(&data, 0o700)?;
    let mut append = tree.tar("65532");
    append.arg("-rf").arg(layer).arg("-C").arg(root);
    run_command(append.arg("./var/lib/jeton"))
}

/// The files of a layout, which are named by their digests.
struct Blobs<'w> {
    workspace: &'w Workspace,
    folder: PathBuf,
    /// A file whose digest is not known yet.
    incoming: PathBuf,
}

impl Blobs<'_> {
    fn digest(&self, file: &Path) -> Result<String, Error> {
        let text = output(self.workspace.command("sha256sum").arg("-b").arg(file))?;
        let digest = text.split(' ').next().unwrap_or_default();
        Ok(format!("sha256:{digest}"))
    }

    /// Adds a JSON document and returns its descriptor.
    fn add(&self, document: &Value, kind: &str) -> Result<Value, Error> {
        files::write(&self.incoming, &document.to_string())?;
        self.add_file(&self.incoming, kind)
    }

    fn add_file(&self, file: &Path, kind: &str) -> Result<Value, Error> {
        let digest = self.digest(file)?;
        let blob = self.folder.join(digest.trim_start_matches("sha256:"));
        fs::rename(file, &blob).map_err(|error| failed(file, &error))?;
        files::set_mode(&blob, 0o644)?;
        let size = fs::metadata(&blob)
            .map_err(|error| failed(&blob, &error))?
            .len();
        Ok(json!({"mediaType": format!("{TYPE}.{kind}"), "digest": digest, "size": size}))
    }
}
