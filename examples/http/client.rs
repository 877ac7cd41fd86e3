//! Requests for one file.

use std::time::Duration;

use ureq::http::{Response, StatusCode, Uri};
use ureq::{Agent, Body, ResponseExt};

use crate::trouble::Trouble;

pub(crate) struct Client {
    agent: Agent,
    url: String,
    /// Where the last answer came from, if that is somewhere else: following redirects once is enough.
    moved_to: Option<Uri>,
    requests: u64,
}

impl Client {
    /// A server that is silent for `timeout` is given up.
    pub(crate) fn new(url: &str, timeout: Duration) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .save_redirect_history(true)
            .timeout_resolve(Some(timeout))
            .timeout_connect(Some(timeout))
            .timeout_recv_response(Some(timeout))
            .timeout_per_read(Some(timeout))
            .timeout_per_write(Some(timeout))
            .accept_encoding("identity")
            .user_agent(concat!("weightstream-example/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), url: url.into(), moved_to: None, requests: 0 }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Requests sent, those that were redirected among them.
    pub(crate) fn requests(&self) -> u64 {
        self.requests
    }

    /// Asks for the bytes from `start` to `end`, which is not among them.
    pub(crate) fn get(
        &mut self,
        range: (u64, u64),
        validator: Option<&str>,
    ) -> Result<Response<Body>, Trouble> {
        if let Some(uri) = self.moved_to.take() {
            let response = self.send(&uri.to_string(), range, validator)?;
            let status = response.status();
            if status.is_success() || status == StatusCode::RANGE_NOT_SATISFIABLE {
                self.moved_to = Some(response.get_uri().clone());
                return Ok(response);
            }
            // Such a place may be good for a while only.
        }
        let url = self.url.clone();
        let response = self.send(&url, range, validator)?;
        let is_moved = response.get_redirect_history().is_some_and(|visited| visited.len() > 1);
        self.moved_to = is_moved.then(|| response.get_uri().clone());
        Ok(response)
    }

    fn send(
        &mut self,
        url: &str,
        (start, end): (u64, u64),
        validator: Option<&str>,
    ) -> Result<Response<Body>, Trouble> {
        let mut request = self.agent.get(url).header("Range", format!("bytes={start}-{}", end - 1));
        if let Some(validator) = validator {
            request = request.header("If-Range", validator);
        }
        self.requests += 1;
        let response = request.call()?;
        let visited = response.get_redirect_history().unwrap_or_default();
        self.requests += visited.len().saturating_sub(1) as u64;
        Ok(response)
    }
}
