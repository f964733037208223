//! The page: three files that are made of the sources in `web/` and are part of the binary. Whoever wants to ask with a key
//! needs the page first, so that none of them needs one.

use super::embedded;
use axum::response::Response;

pub(super) async fn page() -> Response {
    embedded("text/html; charset=utf-8", include_str!("../page/index.html"))
}

pub(super) async fn style() -> Response {
    embedded("text/css; charset=utf-8", include_str!("../page/page.css"))
}

pub(super) async fn script() -> Response {
    embedded("text/javascript; charset=utf-8", include_str!("../page/page.js"))
}
