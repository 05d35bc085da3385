//! Figures of server rows that contradict each other.

use jeton_lab_model::result::{Environment, Repetition, ServerLoad, ServerRow};

use super::{close, says};

/// How far the times of all calls may be from the time that the calls in flight had: calls at both ends of a
/// repetition count in one of them only. Stored runs have 0.992 to 1.017.
const IN_FLIGHT_WITHIN: f64 = 0.05;

/// How far the calls of an open loop may be above those that were due, by the end of a repetition.
const DUE_WITHIN: f64 = 0.01;

/// How much CPU time a server may take beyond its cores, from the ticks of the kernel's clock.
const CPU_WITHIN: f64 = 0.01;

pub(super) fn of_row(row: &ServerRow, environment: &Environment) -> Option<String> {
    let load = row.load.as_ref()?;
    of_tokens(row, load)
        .or_else(|| of_rate(row, load))
        .or_else(|| of_time_in_flight(row, load))
        .or_else(|| of_cpu(row, load, environment))
}

/// The rates of the repetitions must make the number of tokens; the verified tokens are some of them.
fn of_tokens(row: &ServerRow, load: &ServerLoad) -> Option<String> {
    let repetitions = load.repetitions.iter();
    let made: f64 = repetitions
        .map(|one| one.requests_per_s * one.seconds)
        .sum();
    let tokens = row.tokens();
    if !close(tokens as f64, made) {
        return Some(says("number of tokens in statuses", tokens, made));
    }
    (load.verified > tokens).then(|| format!("{} of {tokens} tokens are verified", load.verified))
}

/// In an open loop, no call counts that was not due.
fn of_rate(row: &ServerRow, load: &ServerLoad) -> Option<String> {
    let rate = row.rate.filter(|_| row.loader.is_none())?;
    let seconds: f64 = load.repetitions.iter().map(|one| one.seconds).sum();
    let calls = load.answers().saturating_add(load.errors());
    // One call is due at each end.
    let due = rate * seconds * (1.0 + DUE_WITHIN) + load.repetitions.len() as f64;
    (calls as f64 > due).then(|| {
        let due = rate * seconds;
        format!("{calls} calls count; {due:.0} were due in {seconds:.1} s at this rate")
    })
}

/// In a closed loop, each call in flight begins when the one before it ends.
fn of_time_in_flight(row: &ServerRow, load: &ServerLoad) -> Option<String> {
    // Other loaders may have ramps and pauses.
    if row.rate.is_some() || row.loader.is_some() || load.answers() == 0 {
        return None;
    }
    let in_flight = f64::from(row.connections) * f64::from(row.in_flight);
    let seconds: f64 = load.repetitions.iter().map(|one| one.seconds).sum();
    let available = in_flight * seconds;
    let mean = load.latencies.mean_ms()? / 1e3;
    let taken = mean * load.answers() as f64;
    let ends = mean * in_flight * load.repetitions.len() as f64;
    let within = IN_FLIGHT_WITHIN * available + ends;
    // Calls that failed took time too.
    let is_less = load.errors() == 0 && taken < available - within;
    (is_less || taken > available + within).then(|| {
        format!(
            "the latencies add up to {taken:.1} s, but {in_flight} calls in flight had {available:.1} s"
        )
    })
}

/// A server cannot take more CPU time than its cores have.
fn of_cpu(row: &ServerRow, load: &ServerLoad, environment: &Environment) -> Option<String> {
    let cores = match row.loader {
        // The environment is of the machine that imported the figures.
        Some(_) => f64::from(row.cores),
        None => f64::from(row.cores).min(environment.cores as f64),
    };
    let taken = |one: &Repetition| Some(one.cpu_us_per_request? / 1e6 * one.requests_per_s);
    let taken = load.repetitions.iter().filter_map(taken);
    let most = taken.reduce(f64::max)?;
    (most > cores * (1.0 + CPU_WITHIN)).then(|| {
        format!("the CPU time of a repetition is that of {most:.2} cores; the server had {cores}")
    })
}
