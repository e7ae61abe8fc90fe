import type { CommandDeclaration } from '../../command.ts'
import { option } from '../../options.ts'

export const mcp: CommandDeclaration = {
  usage: 'mcp',
  summary: 'the questions as tools for assistants, over stdin and stdout',
  options: [option('--no-people', 'leave out every answer about a single player')],
  notes: `The Model Context Protocol, read-only: tools for what is asked most, ask for every other question of wynnsync query, and describe,
which says what questions mean. An assistant starts this command; it needs the package @modelcontextprotocol/sdk beside wynnsync.
wynnsync serve --mcp answers the same over HTTP.`,
  examples: ['npm install @modelcontextprotocol/sdk', 'wynnsync mcp', 'wynnsync mcp --no-people'],
  load: async () => (await import('./mcp-command.ts')).mcpCommand,
}
