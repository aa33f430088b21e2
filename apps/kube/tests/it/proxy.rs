//! A proxy that disrupts some requests from a replica to the API server: it answers with 429, 500
//! or 410 instead of forwarding, or drops responses to changes. It can also swallow all traffic.

use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use http::{Method, Request, Response};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kube::Client;
use kube::client::Body;
use pavior::Stream;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// The default number of requests per disturbance.
pub(crate) const ONE_OF: u64 = 20;

/// The kinds of disturbances.
const SPOILT: [&str; 4] =
    ["answered 429", "answered 500", "a read answered 410", "a change's response lost"];

pub(crate) struct Proxy {
    pub(crate) port: u16,
    spoils: Arc<Spoils>,
    swallows: watch::Sender<bool>,
}

struct Spoils {
    one_of: u64,
    draw: Mutex<Stream>,
    counts: [AtomicU64; SPOILT.len()],
}

impl Proxy {
    /// Starts a proxy that runs as long as the runtime and serves plain HTTP using a client's
    /// credentials. Disrupts one in `one_of` requests.
    pub(crate) fn start(runtime: &Runtime, client: Client, seed: u64, one_of: u64) -> Proxy {
        let spoils = Arc::new(Spoils {
            one_of,
            draw: Mutex::new(Stream::new(seed, 0, "proxy")),
            counts: [const { AtomicU64::new(0) }; SPOILT.len()],
        });
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port is free");
        let port = listener.local_addr().unwrap().port();
        let own = Arc::clone(&spoils);
        let (swallows, swallowed) = watch::channel(false);
        runtime.spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { continue };
                let (client, spoils) = (client.clone(), Arc::clone(&own));
                let mut swallowed = swallowed.clone();
                tokio::spawn(async move {
                    let answer = |request| {
                        let (client, spoils) = (client.clone(), Arc::clone(&spoils));
                        async move { Ok::<_, Infallible>(answer(&client, &spoils, request).await) }
                    };
                    let served = http1::Builder::new();
                    let io = TokioIo::new(stream);
                    let mut served = pin!(served.serve_connection(io, service_fn(answer)));
                    let is_swallowed = async {
                        if swallowed.wait_for(|swallows| *swallows).await.is_err() {
                            pending::<()>().await;
                        }
                    };
                    tokio::select! {
                        biased;
                        // The connection stays open but is never served again.
                        () = is_swallowed => pending().await,
                        _ = &mut served => {}
                    }
                });
            }
        });
        Proxy { port, spoils, swallows }
    }

    /// Starts swallowing traffic on all connections, or resumes serving on new connections only.
    pub(crate) fn swallow(&self, swallows: bool) {
        let _ = self.swallows.send(swallows);
    }

    /// Returns the number of disturbed requests of each kind.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.spoils.counts.iter().map(|count| count.load(Ordering::Relaxed));
        SPOILT.into_iter().zip(counts)
    }
}

impl Spoils {
    /// Chooses at random whether to disturb the next request and, if so, with which fault.
    fn next(&self, reads: bool) -> Option<usize> {
        let drawn = self.draw.lock().unwrap().next_u64();
        let which = (drawn / self.one_of) as usize % 4;
        // The third kind is only for reads, and the fourth only for changes.
        let which = if which < 2 { which } else { 2 + usize::from(!reads) };
        drawn.is_multiple_of(self.one_of).then(|| {
            self.counts[which].fetch_add(1, Ordering::Relaxed);
            which
        })
    }
}

async fn answer(client: &Client, spoils: &Spoils, request: Request<Incoming>) -> Response<Body> {
    let watches = request.uri().query().is_some_and(|query| query.contains("watch=true"));
    match spoils.next(request.method() == Method::GET) {
        Some(0) => refusal(429, "TooManyRequests"),
        Some(1) => refusal(500, "InternalError"),
        // A watch reports an expired version as an event, not in the response's status.
        Some(2) if watches => {
            let event = json!({ "type": "ERROR", "object": status(410, "Expired") });
            Response::new(Body::from(format!("{event}\n").into_bytes()))
        }
        Some(2) => refusal(410, "Expired"),
        Some(_) => {
            let _ = pass(client, request).await;
            refusal(500, "InternalError")
        }
        None => pass(client, request).await.unwrap_or_else(|_| refusal(503, "Unavailable")),
    }
}

/// Forwards a request to the API server.
async fn pass(client: &Client, request: Request<Incoming>) -> kube::Result<Response<Body>> {
    let (head, mut body) = request.into_parts();
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|error| kube::Error::Service(error.into()))?;
        bytes.extend(frame.data_ref().into_iter().flatten());
    }
    let mut asked =
        Request::builder().method(head.method).uri(head.uri.path_and_query().unwrap().as_str());
    for name in ["content-type", "accept"] {
        if let Some(value) = head.headers.get(name) {
            asked = asked.header(name, value);
        }
    }
    client.send(asked.body(Body::from(bytes)).expect("it is a valid request")).await
}

fn status(code: u16, reason: &str) -> serde_json::Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "spoilt", "reason": reason, "code": code,
    })
}

fn refusal(code: u16, reason: &str) -> Response<Body> {
    let body = Body::from(status(code, reason).to_string().into_bytes());
    let answer = Response::builder().status(code).header("content-type", "application/json");
    answer.header("retry-after", "1").body(body).expect("it is a valid response")
}
