import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

/** A client of a stream that connects again whenever it ends, from where it left off, until the test ends. */
export function followStream(url: string, from = '0'): { readonly ids: number[] } {
  const gone = new AbortController()
  onTestFinished(() => gone.abort())
  const ids: number[] = []
  let lastId = from
  const connect = async () => {
    const response = await fetch(url, { headers: { 'last-event-id': lastId }, signal: gone.signal })
    let text = ''
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = `${text}${piece}`.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const [, id] = /^id: (\d+)$/m.exec(block) ?? []
        if (id === undefined) continue
        lastId = id
        if (/^data: /m.test(block)) ids.push(Number(id))
      }
    }
  }
  const run = async () => {
    while (!gone.signal.aborted) {
      await connect().catch(() => undefined)
      await delay(50)
    }
  }
  void run()
  return { ids }
}
