import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/flow.css'
import './styles/team.css'
import { render } from 'preact'
import { App } from './app.tsx'

const root = document.querySelector('#app')
if (root !== null) render(<App />, root)
