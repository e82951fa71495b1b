//! Publishes an event, the same again, and a wrong one; then reads on from the place of the first.
use async_nats::jetstream::{self, stream::DirectGetErrorKind};
use async_nats::{Client, ConnectOptions, HeaderMap};
use serde_json::{json, Value};
use std::{env, error::Error};

/// Within two minutes an event with the same id is stored once: after a timeout or Unavailable, send the same again.
async fn publish(client: &Client, id: &str, details: Value) -> Result<Value, Box<dyn Error>> {
    let occurred_at = chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
    let event = json!({
        "event": "order.created", "eventSchemaVersion": "1.0.0", "occurredAt": occurred_at, "details": details
    });
    let mut headers = HeaderMap::new();
    headers.insert("Nats-Msg-Id", id);
    let body = serde_json::to_vec(&event)?.into();
    let reply = client
        .request_with_headers("publish.order.created", headers, body)
        .await?;
    let answer: Value = serde_json::from_slice(&reply.payload)?;
    match answer["_tag"].as_str() {
        Some("Stored") if answer["duplicate"] == true => {
            println!("stored as {}, a duplicate", answer["sequence"])
        }
        Some("Stored") => println!("stored as {}", answer["sequence"]),
        Some("Refused") => {
            for fault in answer["faults"].as_array().into_iter().flatten() {
                println!(
                    "refused: {} {}",
                    fault["path"].as_str().unwrap_or(""),
                    fault["message"].as_str().unwrap_or("")
                );
            }
        }
        _ => println!("unavailable: {}", answer["detail"]),
    }
    Ok(answer)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let user = env::var("NATS_USER").unwrap_or("internal-services".into());
    let url = env::var("NATS_URL").unwrap_or("nats://127.0.0.1:4222".into());
    // Answers come to an inbox of the user's own; no other is allowed.
    let inbox_prefix = format!("_INBOX_{user}");
    let options = ConnectOptions::with_user_and_password(user, env::var("NATS_PASSWORD")?);
    let client = options
        .custom_inbox_prefix(inbox_prefix)
        .connect(url)
        .await?;

    let id = nuid::next();
    let first = publish(&client, &id, json!({ "id": "A-1" })).await?;
    publish(&client, &id, json!({ "id": "A-1" })).await?;
    publish(&client, &nuid::next(), json!({ "id": 1 })).await?;

    let stream = jetstream::new(client).get_stream_no_info("EVENTS").await?;
    let mut place = first["sequence"].as_u64();
    while place.is_some() {
        match stream
            .direct_get_next_for_subject("events-from.*.order.created", place)
            .await
        {
            Ok(found) => {
                println!("read {} {}", found.sequence, found.subject);
                place = Some(found.sequence + 1);
            }
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
