import type { Block, Table } from './dictionary.ts'

/** The dictionary as Markdown; its diagrams are Mermaid. */
export function markdownOf(page: readonly Block[]): string {
  return `${page.map(markdown).join('\n\n')}\n`
}

function markdown(block: Block): string {
  if (block.kind === 'heading') return `${'#'.repeat(block.level)} ${block.isCode ? `\`${block.text}\`` : block.text}`
  if (block.kind === 'text') return block.text
  if (block.kind === 'diagram') return `\`\`\`mermaid\nerDiagram\n${entities(block.tables).join('\n')}\n\`\`\``
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(block.columns), line(block.columns.map(() => '---')), ...block.rows.map(line)].join('\n')
}

/** Every table with its key, then who is part of whom. */
function entities(tables: readonly Table[]): string[] {
  const boxes = tables.flatMap(({ name, columns }) => [
    `  ${name} {`,
    ...columns.filter(({ isKey }) => isKey).map((one) => `    ${one.type.replaceAll(/\W+/g, '_')} ${one.name} PK`),
    '  }',
  ])
  const parts = tables.flatMap(({ name, root }) => (root ? [`  ${root.name} ||--o{ ${name} : has`] : []))
  return [...boxes, ...parts]
}
