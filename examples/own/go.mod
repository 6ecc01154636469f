module github.com/gauze-dp/gauze/examples/own

go 1.26.0

require github.com/gauze-dp/gauze v0.0.0

require (
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/gauze-dp/gauze => ../..
