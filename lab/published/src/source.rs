//! The sources of published figures and their machines, shown with every published figure.

/// The source of a report's figures.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// The report's number, 1 to 4.
    pub report: u8,
    /// The repository, with its licence.
    pub name: &'static str,
    /// The machine and the method of all figures.
    pub machine: &'static str,
    /// The question that the report asks.
    pub question: &'static str,
    /// The conclusions that answer it in short, by number.
    pub in_short: &'static [&'static str],
}

/// Returns the four reports.
#[must_use]
pub fn reports() -> [Source; 4] {
    [REPORT_1, REPORT_2, REPORT_3, REPORT_4]
}

/// JWT and PASETO in Go.
pub(super) const REPORT_1: Source = Source {
    report: 1,
    name: "github.com/mateothegreat/go-jwt-paseto (MIT)",
    machine: "Go 1.24, darwin/arm64, Apple M1 Max; one run",
    question: "JWT or PASETO?",
    in_short: &["1.3a", "1.4a", "1.6", "1.8a", "1.9d"],
};

/// A Java JWT library.
pub(super) const REPORT_2: Source = Source {
    report: 2,
    name: "ForgeRock commons, json-web-token (CDDL-1.0)",
    machine: "Java 8u60, Mac OS X 10.11, 2.6 GHz Core i7; 1,000 operations, one run",
    question: "What do algorithms cost?",
    in_short: &["2.1", "2.3b", "2.4", "2.5b", "2.6"],
};

/// gRPC and JWT on Node.js and Go.
pub(super) const REPORT_3: Source = Source {
    report: 3,
    name: "github.com/satazor/jwt-with-grpc-performance-tests",
    machine: "Node 22.1 and Go 1.22.1, Apple M3 Pro, 32 GB; ghz, 10 s closed loop",
    question: "A gRPC service for tokens: Node.js or Go?",
    in_short: &["3.1a", "3.1b", "3.2a", "3.2b"],
};

/// pascaldekloe and cristalhq.
pub(super) const REPORT_4: Source = Source {
    report: 4,
    name: "github.com/cristaloleg/benches (MIT)",
    machine: "MacBook Pro 2017, 2.8 GHz Core i7; go test -count 10, benchstat",
    question: "pascaldekloe or cristalhq?",
    in_short: &["4.1", "4.2", "4.3a", "4.4"],
};
