//! A load as k6 runs it: a script.

use super::{Inexpressible, METHOD, PROTO, Plan, SERVICE};

/// What every script begins with.
const BEGINNING: &str = "\
import grpc from 'k6/net/grpc';
import { check } from 'k6';

const client = new grpc.Client();
// From this script's folder: keep it in the checkout's root, or mend the path.
client.load([], '{proto}');

const TARGET = '{target}';
const METHOD = '{method}';
const REQUEST = { algorithm: '{alg}' };

// Each VU has variables of its own, and so a connection of its own.
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
    'there is a token': (r) => r && r.message && r.message.jwt !== '',
  });
}
";

const CLOSED: &str = "
const MILLISECONDS = {milliseconds};
const IN_FLIGHT = {in_flight};

// A closed loop. A VU's `invoke` waits for its answer, so that one connection would have one call in
// flight: `asyncInvoke` shares it, and each VU is in one iteration of {in_flight} loops to the end.
// k6 counts VUs and iterations then, and `grpc_req_duration` and `checks` count calls.
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
// An open loop. An iteration is one call, made by any VU that is free: with {calls} calls in flight
// at most there are {calls} connections, and not the {connections} of the lab's loader. k6 counts a
// latency from when a call was sent, and not from when it was due; what was due and had no VU is in
// `dropped_iterations`.
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

/// The load as a script for `k6 run FILE`. It has no warm-up.
///
/// # Errors
/// [`Inexpressible`]: k6 takes whole calls a second.
pub fn k6(plan: &Plan) -> Result<String, Inexpressible> {
    let rate = plan.whole_rate("k6")?;
    let pace = match rate {
        None => CLOSED,
        Some(_) => OPEN,
    };
    let mut script = format!("// {}: jeton lab export k6\n{BEGINNING}{pace}", plan.name());
    // Nothing here has a quote in it: a target is checked, everything else is the lab's own.
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
