//! Exports a load as a k6 script.

use super::{METHOD, PROTO, Plan, SERVICE};

/// The beginning of every script.
const BEGINNING: &str = "\
import grpc from 'k6/net/grpc';
import { check } from 'k6';

const client = new grpc.Client();
// Relative to this script's folder: keep the script in the root of the checkout, or change the
// path.
client.load([], '{proto}');

const TARGET = '{target}';
const METHOD = '{method}';
const REQUEST = { algorithm: '{alg}' };

// Each VU has its own variables and so its own connection.
let connected = false;
function connect() {
  if (!connected) {
    client.connect(TARGET, { plaintext: true });
    connected = true;
  }
}

function look(response) {
  check(response, {
    'status is OK': (r) => r && r.status === grpc.StatusOK,
    'response has a token': (r) => r && r.message && r.message.jwt !== '',
  });
}
";

const CLOSED: &str = "
const MILLISECONDS = {milliseconds};
const IN_FLIGHT = {in_flight};

// A closed loop. `invoke` waits for its answer, so a connection would have only one call in flight.
// `asyncInvoke` shares the connection. Each VU runs one iteration with {in_flight} loops until the
// end. So k6 counts VUs and iterations, while `grpc_req_duration` and `checks` count calls.
export const options = {
  scenarios: {
    load: {
      executor: 'constant-vus',
      vus: {connections},
      duration: '{duration}',
    },
  },
};

export default async function () {
  connect();
  const until = Date.now() + MILLISECONDS;
  const calls = async () => {
    while (Date.now() < until) {
      look(await client.asyncInvoke(METHOD, REQUEST));
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, calls));
}
";

const OPEN: &str = "
// An open loop. An iteration is one call, made by any free VU. With at most {calls} calls in flight
// there are {calls} connections, not the {connections} of the lab's loader. k6 measures a latency
// from when a call was sent, not from when it was due. `dropped_iterations` counts due calls
// without a free VU.
export const options = {
  scenarios: {
    load: {
      executor: 'constant-arrival-rate',
      rate: {rate},
      timeUnit: '1s',
      preAllocatedVUs: {calls},
      maxVUs: {calls},
      duration: '{duration}',
    },
  },
};

export default function () {
  connect();
  look(client.invoke(METHOD, REQUEST));
}
";

/// Returns the load as a script for `k6 run FILE`. It has no warm-up.
///
/// # Errors
///
/// If the tool cannot express the load: k6 supports only whole calls per second.
pub fn k6(plan: &Plan) -> Result<String, String> {
    let rate = plan.whole_rate("k6")?;
    let pace = match rate {
        None => CLOSED,
        Some(_) => OPEN,
    };
    let mut script = format!("// {}: jeton-lab export k6\n{BEGINNING}{pace}", plan.name());
    // No value contains a quote: a target is checked, and all others are constants or numbers.
    for (name, value) in [
        ("proto", PROTO.to_owned()),
        ("target", plan.target.to_string()),
        ("method", format!("{SERVICE}/{METHOD}")),
        ("alg", plan.alg.to_string()),
        ("connections", plan.connections.to_string()),
        ("in_flight", plan.in_flight.to_string()),
        ("calls", plan.calls().to_string()),
        ("milliseconds", plan.measured.as_millis().to_string()),
        ("duration", plan.duration()),
        ("rate", rate.map_or_else(String::new, |r| r.to_string())),
    ] {
        script = script.replace(&format!("{{{name}}}"), &value);
    }
    Ok(script)
}
