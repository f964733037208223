"""The peer of the load test: CTranslate2 behind an ASGI server, with requests of different clients batched together.

    PEER_MODEL=DIRECTORY PEER_TOKENIZER=tokenizer.json PEER_THREADS=2 uvicorn peer:app --port 0

It answers `POST /predict` with {"text": …} to {"text": …}. There is no framework between the server and the model.
"""

import asyncio
import json
import os

import ctranslate2
from tokenizers import Tokenizer

END = "</s>"
BATCH = 64
GATHER = 0.002  # seconds, as `gatto serve` has it
THREADS = int(os.environ.get("PEER_THREADS", "2"))
LENGTH = int(os.environ.get("PEER_LENGTH", "200"))

tokenizer = Tokenizer.from_file(os.environ["PEER_TOKENIZER"])
translator = ctranslate2.Translator(
    os.environ["PEER_MODEL"],
    device="cpu",
    compute_type=os.environ.get("PEER_PRECISION", "float32"),
    inter_threads=THREADS,
    intra_threads=1,
)
waiting = None


def translated(texts):
    sources = [[f"w{token}" if token > 3 else "<unk>" for token in tokenizer.encode(text).ids] + [END] for text in texts]
    found = translator.translate_batch(sources, beam_size=1, max_decoding_length=LENGTH, max_batch_size=BATCH)
    ids = [[int(token[1:]) for token in result.hypotheses[0] if token.startswith("w")] for result in found]
    # Behind an apostrophe there is no space, which its decoder does not know.
    return [tokenizer.decode(tokens).replace("' ", "'") for tokens in ids]


async def batches():
    """Takes what waits, for a moment, and has it translated; as many batches at a time as there are threads."""
    places = asyncio.Semaphore(THREADS)
    loop = asyncio.get_running_loop()

    async def compute(batch):
        try:
            texts = await loop.run_in_executor(None, translated, [text for text, _ in batch])
            for (_, future), text in zip(batch, texts):
                if not future.done():
                    future.set_result(text)
        finally:
            places.release()

    while True:
        await places.acquire()
        batch = [await waiting.get()]
        end = loop.time() + GATHER
        while len(batch) < BATCH:
            try:
                batch.append(await asyncio.wait_for(waiting.get(), max(0.0, end - loop.time())))
            except asyncio.TimeoutError:
                break
        asyncio.ensure_future(compute(batch))


async def app(scope, receive, send):
    global waiting
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                waiting = asyncio.Queue()
                asyncio.ensure_future(batches())
                await send({"type": "lifespan.startup.complete"})
            else:
                await send({"type": "lifespan.shutdown.complete"})
                return
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    try:
        future = asyncio.get_running_loop().create_future()
        waiting.put_nowait((json.loads(body)["text"], future))
        status, answer = 200, {"text": await future}
    except (ValueError, KeyError, TypeError):
        status, answer = 400, {"error": "send {\"text\": …}"}
    body = json.dumps(answer).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
