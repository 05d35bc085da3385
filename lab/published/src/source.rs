//! The sources of published figures and their machines, shown with every published figure.

/// The source of a report's figures.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) report: u8,
    pub(super) name: &'static str,
    pub(super) machine: &'static str,
}

/// JWT and PASETO in Go.
pub(super) const REPORT_1: Source = Source {
    report: 1,
    name: "github.com/mateothegreat/go-jwt-paseto (MIT)",
    machine: "Go 1.24, darwin/arm64, Apple M1 Max; one run",
};

/// A Java JWT library.
pub(super) const REPORT_2: Source = Source {
    report: 2,
    name: "ForgeRock commons, json-web-token (CDDL-1.0)",
    machine: "Java 8u60, Mac OS X 10.11, 2.6 GHz Core i7; 1,000 operations, one run",
};

/// gRPC and JWT on Node.js and Go.
pub(super) const REPORT_3: Source = Source {
    report: 3,
    name: "github.com/satazor/jwt-with-grpc-performance-tests",
    machine: "Node 22.1 and Go 1.22.1, Apple M3 Pro, 32 GB; ghz, 10 s closed loop",
};

/// pascaldekloe and cristalhq.
pub(super) const REPORT_4: Source = Source {
    report: 4,
    name: "github.com/cristaloleg/benches (MIT)",
    machine: "MacBook Pro 2017, 2.8 GHz Core i7; go test -count 10, benchstat",
};
