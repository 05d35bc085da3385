//! The claims in methods of tonic services.

use jeton::Verified;
use serde::de::DeserializeOwned;
use tonic::{Request, Status};

use crate::failure::{Cause, Failure};
use crate::layer::{details, is_checked};

/// Returns the verified claims of a request, or the status with which a method of a tonic service fails.
///
/// ```
/// # #[derive(serde::Deserialize)] struct Session { tenant: String }
/// # fn method<R>(request: tonic::Request<R>) -> Result<tonic::Response<String>, tonic::Status> {
/// let session = jeton_tower::require::<Session>(&request)?;
/// Ok(tonic::Response::new(session.into_claims().tenant))
/// # }
/// ```
///
/// # Errors
/// - `UNAUTHENTICATED` if the claims do not deserialize into `T`, or if the request has no token and the layer is
///   [optional](crate::RequireToken::optional).
/// - `INTERNAL` if the service has no [`RequireToken`](crate::RequireToken) layer. The cause is logged.
pub fn require<T: DeserializeOwned>(request: &Request<impl Sized>) -> Result<Verified<T>, Status> {
    let is_checked = is_checked(request.extensions());
    let failure = match (crate::claims(request.extensions()), is_checked) {
        (Some(Ok(verified)), _) => return Ok(verified),
        (Some(Err(error)), _) => {
            tracing::debug!(%error, "the claims do not match the type of the method");
            Failure::from(&error)
        }
        (None, true) => Cause::Missing.into(),
        (None, false) => {
            tracing::error!("a method requires claims, but its service has no RequireToken layer");
            Cause::Misconfigured.into()
        }
    };
    Err(failure.status_for(&details(request.extensions())))
}
