//! A load of many loaders: an indexed Job, each of whose pods is the lab's own loader.

use serde_json::Value;

use super::Plan;

/// Where the loaders run.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// How many.
    pub loaders: u32,
    /// The image with `jeton` in it.
    pub image: String,
}

const MANIFEST: &str = "\
# {name}, from {loaders} loaders side by side: together {calls} calls in flight{rate}.
#
#   kubectl apply -f FILE
#   kubectl wait --for=condition=complete --timeout={timeout}s job/jeton-load
#
# Each pod leaves load-<index>.json on the claim. Where that is mounted, one command adds them, bucket
# by bucket, as if one loader had seen it all:
#
#   jeton lab load merge load-*.json -o load.json
#
# Pods do not start in the same moment: a load should be long beside the time that starting takes.
# One loader is one thread, hence a core for each; `client_bound` in the file says whether that was
# too little.
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: jeton-load
spec:
  # Of all pods at once, on whatever node each is.
  accessModes: [\"ReadWriteMany\"]
  resources:
    requests:
      storage: 1Gi
---
apiVersion: batch/v1
kind: Job
metadata:
  name: jeton-load
spec:
  completionMode: Indexed
  completions: {loaders}
  parallelism: {loaders}
  # A loader that is started again would load beside nobody.
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: load
          image: {image}
          command: [\"jeton\"]
          args: {args}
          resources:
            requests:
              cpu: \"1\"
              memory: 256Mi
          volumeMounts:
            - name: results
              mountPath: /results
      volumes:
        - name: results
          persistentVolumeClaim:
            claimName: jeton-load
";

/// What a Job may take beyond its load: images are fetched, pods are placed.
const BEYOND_SECONDS: u64 = 300;

/// The load as a manifest for `kubectl apply -f FILE`: every loader does all of the plan.
#[must_use]
pub fn kubernetes(plan: &Plan, cluster: &Cluster) -> String {
    let loaders = u64::from(cluster.loaders);
    let rate = plan.rate.map_or_else(String::new, |rate| {
        #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
        let all = rate * loaders as f64;
        format!(", {all} calls a second")
    });
    let mut manifest = MANIFEST.to_owned();
    for (name, value) in [
        ("name", plan.name()),
        ("loaders", loaders.to_string()),
        ("calls", (loaders * u64::from(plan.calls())).to_string()),
        ("rate", rate),
        (
            "timeout",
            (plan.measured.as_secs() + BEYOND_SECONDS).to_string(),
        ),
        ("args", json(arguments(plan).into())),
        ("image", json(cluster.image.as_str().into())),
    ] {
        manifest = manifest.replace(&format!("{{{name}}}"), &value);
    }
    manifest
}

/// The command line of each loader. Kubernetes puts the pod's index in.
fn arguments(plan: &Plan) -> Vec<String> {
    let mut arguments: Vec<String> = ["lab", "load"].map(str::to_owned).into();
    arguments.push(plan.target.to_string());
    let mut option = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
    option("--alg", plan.alg.to_string());
    option("--connections", plan.connections.to_string());
    option("--in-flight", plan.in_flight.to_string());
    option("--seconds", plan.measured.as_secs_f64().to_string());
    if let Some(rate) = plan.rate {
        option("--rate", rate.to_string());
    }
    option(
        "--output",
        "/results/load-$(JOB_COMPLETION_INDEX).json".to_owned(),
    );
    arguments
}

/// A string in JSON is one in YAML, and so is a list of them.
fn json(value: Value) -> String {
    value.to_string()
}
