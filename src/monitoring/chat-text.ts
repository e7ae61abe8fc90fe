import { visibleLine } from '../base/terminal-text.ts'

/** What keeps Discord from mentioning anybody. */
export const noMentions = { parse: [] } as const

/** Text that Slack shows as it is: `<!channel>` and `<@U1>` mention people there. */
export function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** A line that Discord shows as it is, without its Markdown. */
export function discordLine(text: string): string {
  return visibleLine(text).replace(/[\\`*_~|[\]()<>#:@-]/g, '\\$&')
}
