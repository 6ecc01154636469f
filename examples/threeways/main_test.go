package main

func Example() {
	main()
	// Output:
	// memory: [age bmi] true
	// iterator: [age bmi] true
	// database: [age bmi] true
}
