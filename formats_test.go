package gauze

import _ "github.com/gauze-dp/gauze/source/inputs" // tests open inputs of every format
