import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Api } from '../api/routes.ts'
import { servedQuestions } from '../api/served-questions.ts'
import { problemOf, problems } from '../http/problems.ts'
import { openReader } from '../reading.ts'
import type { WebContext, WebOptions } from '../web-server.ts'
import { callTool, instructions, toolsOf } from './tools.ts'

type McpContext = Pick<WebContext, 'db' | 'finders' | 'clock'> & Pick<WebOptions, 'version' | 'people' | 'timeoutMs'>

function serverOf(api: Api): Server {
  const server = new Server({ name: 'wynnsync', version: api.version }, { capabilities: { tools: {} }, instructions })
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: await toolsOf(api) }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    try {
      const text = await callTool(api, params.name, params.arguments ?? {})
      return { content: [{ type: 'text' as const, text }] }
    } catch (error) {
      const { problem, details } = problemOf(error)
      const text = JSON.stringify({ problem, title: problems[problem].title, ...details })
      return { content: [{ type: 'text' as const, text }], isError: true }
    }
  })
  return server
}

/**
 * Serves the questions as tools over stdin and stdout (Model Context Protocol).
 * @returns what ends it, and what resolves when the client ended it
 */
export async function serveMcp({ db, finders, clock, version, people, timeoutMs }: McpContext) {
  const reader = await openReader(db, timeoutMs)
  const server = serverOf({ reader, finders, clock, version, served: servedQuestions(reader, clock, people) })
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve
    process.stdin.once('end', resolve)
  })
  await server.connect(new StdioServerTransport())
  return { ended, close: () => server.close() }
}

/** Answers one message over HTTP (Streamable HTTP); nothing is kept between two. */
export async function respondMcp(api: Api, request: Request): Promise<Response> {
  const server = serverOf(api)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request)
  } finally {
    await server.close()
  }
}
