use std::error::Error;
use std::fmt;
use std::sync::Arc;

use tonic::metadata::AsciiMetadataValue;
use tonic::service::Interceptor;
use tonic::{Request, Status};

type BoxError = Box<dyn Error + Send + Sync>;
type NewToken = dyn Fn() -> Result<String, BoxError> + Send + Sync;

/// An interceptor of tonic clients that adds `authorization: Bearer` to each call.
///
/// Debug output of a call does not show the token.
///
/// ```
/// use jeton::{Claims, jwt::JwtIssuer};
/// use jeton_tower::SendToken;
/// use tonic::transport::Channel;
/// use tonic_health::pb::health_client::HealthClient;
///
/// # fn example(channel: Channel, issuer: JwtIssuer) {
/// let claims = Claims::registered().subject("service-7");
/// let new_token = SendToken::new(move || issuer.issue(&claims));
/// let client = HealthClient::with_interceptor(channel, new_token);
/// # }
/// ```
#[derive(Clone)]
pub struct SendToken(Arc<NewToken>);

impl SendToken {
    /// Creates an interceptor that gets the token for each call from this function. If the function fails, the call
    /// fails with `INTERNAL` and the error as its source.
    #[must_use]
    pub fn new<E: Into<BoxError>>(
        token: impl Fn() -> Result<String, E> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(move || token().map_err(Into::into)))
    }
}

impl Interceptor for SendToken {
    fn call(&mut self, mut call: Request<()>) -> Result<Request<()>, Status> {
        let token = (self.0)().map_err(|error| {
            let mut status = Status::internal(format!("no token for the call: {error}"));
            status.set_source(Arc::from(error));
            status
        })?;
        let value = AsciiMetadataValue::try_from(format!("Bearer {token}"));
        let mut value = value.map_err(|_| Status::internal("the token is not ASCII"))?;
        value.set_sensitive(true);
        call.metadata_mut().insert("authorization", value);
        Ok(call)
    }
}

impl fmt::Debug for SendToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendToken")
    }
}
