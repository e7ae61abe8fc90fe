import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { NameFinders } from '../../analytics/asking/names.ts'
import type { Clock } from '../../app/clock.ts'
import type { Database } from '../../db/database.ts'
import { servedQuestions } from '../api/served-questions.ts'
import { problemOf, problems } from '../http/problems.ts'
import { openReader } from '../reading.ts'
import { callTool, type ToolContext, toolsOf } from './tools.ts'

export interface McpContext {
  readonly db: Database
  readonly finders: NameFinders
  readonly clock: Clock
  readonly version: string
  /** Whether answers about single players are given. */
  readonly people: boolean
  /** How long a statement may take on a server, ms. */
  readonly timeoutMs: number
}

/**
 * Serves the questions as tools over stdin and stdout (Model Context Protocol).
 * @returns what ends it, and what resolves when the client ended it
 */
export async function serveMcp({ db, finders, clock, version, people, timeoutMs }: McpContext) {
  const reader = await openReader(db, timeoutMs)
  const context: ToolContext = { reader, finders, clock, version, served: servedQuestions(reader, clock, people) }
  const server = new Server({ name: 'wynnsync', version }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: await toolsOf(context) }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    try {
      const text = await callTool(context, params.name, params.arguments ?? {})
      return { content: [{ type: 'text' as const, text }] }
    } catch (error) {
      const { problem, details } = problemOf(error)
      const text = JSON.stringify({ problem, title: problems[problem].title, ...details })
      return { content: [{ type: 'text' as const, text }], isError: true }
    }
  })
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve
    process.stdin.once('end', resolve)
  })
  await server.connect(new StdioServerTransport())
  return { ended, close: () => server.close() }
}
