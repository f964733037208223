// Server-sent events, as they come over `fetch`: a browser's own EventSource can only ask with GET.

export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

/** Cuts a stream of text into events; feed it piece by piece. */
export class EventReader {
  private rest = "";
  private name = "";
  private data: string[] = [];

  push(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const ended of lines) {
      const line = ended.endsWith("\r") ? ended.slice(0, -1) : ended;
      if (line === "") {
        if (this.data.length > 0) events.push({ name: this.name || "message", data: this.data.join("\n") });
        this.name = "";
        this.data = [];
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") this.name = value;
      if (field === "data") this.data.push(value);
    }
    return events;
  }
}

/** The events of an answer. */
export async function* readEvents(response: Response): AsyncGenerator<ServerEvent> {
  const body = response.body?.getReader();
  if (!body) return;
  const decoder = new TextDecoder();
  const reader = new EventReader();
  try {
    for (;;) {
      const { done, value } = await body.read();
      if (done) return;
      yield* reader.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    await body.cancel().catch(() => undefined);
  }
}
