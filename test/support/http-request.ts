import { type IncomingHttpHeaders, request as send } from 'node:http'

/** An HTTP response, whole. */
export interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Sends a request with any `Host` header, which `fetch` would not. */
export function request(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<Received> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = send({ hostname, port, path, method, headers, agent: false }, async (response) => {
      let text = ''
      response.setEncoding('utf8')
      for await (const piece of response) text += String(piece)
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
    })
    sent.once('error', reject).end()
  })
}
