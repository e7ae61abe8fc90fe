import theme from 'vitepress/theme'
import './reading.css'

export default theme
