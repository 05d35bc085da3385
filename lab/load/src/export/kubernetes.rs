//! Exports a load for many loaders: an indexed Job whose pods run the lab's own loader.

use serde_json::Value;

use super::Plan;

/// Where the loaders run.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// The number of loaders.
    pub loaders: u32,
    /// The image that contains `jeton`.
    pub image: String,
}

const MANIFEST: &str = "\
# {name}, from {loaders} parallel loaders with {calls} calls in flight in total{rate}.
#
#   kubectl apply -f FILE
#   kubectl wait --for=condition=complete --timeout={timeout}s job/jeton-load
#
# Each pod writes load-<index>.json to the volume claim. Where that is mounted, one command merges
# the files exactly, bucket by bucket:
#
#   jeton-lab load merge load-*.json -o load.json
#
# Pods do not start at the same moment, so a load should be long compared with the start.
# One loader is one thread and needs one core. `client_bound` in the file says whether that was
# too little.
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: jeton-load
spec:
  # Shared by all pods, on any node.
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
  # A restarted loader would run alone, after the others.
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: load
          image: {image}
          command: [\"jeton-lab\"]
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

/// The time a Job may take in addition to its load: pulling images, scheduling pods.
const BEYOND_SECONDS: u64 = 300;

/// Returns the load as a manifest for `kubectl apply -f FILE`. Every loader runs the whole plan.
#[must_use]
pub fn kubernetes(plan: &Plan, cluster: &Cluster) -> String {
    let loaders = u64::from(cluster.loaders);
    let rate = plan.rate.map_or_else(String::new, |rate| {
        #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
        let all = rate * loaders as f64;
        format!(", {all} calls per second")
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

/// Returns the command line of each loader. Kubernetes inserts the pod's index.
fn arguments(plan: &Plan) -> Vec<String> {
    let mut arguments = vec!["load".to_owned(), plan.target.to_string()];
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

/// A JSON string is a YAML string, and so is a list of strings.
fn json(value: Value) -> String {
    value.to_string()
}
