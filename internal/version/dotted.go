package version

// Dotted compares versions by their dotted numbers alone, as agents have them; what is no
// number ends a part, and a pre-release or build says nothing.
func Dotted(a, b string) int {
	for a != "" || b != "" {
		var x, y int
		x, a = nextNumber(a)
		y, b = nextNumber(b)
		if x != y {
			return x - y
		}
	}
	return 0
}

func nextNumber(s string) (int, string) {
	n, i := 0, 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		n = n*10 + int(s[i]-'0')
	}
	for i < len(s) && (s[i] < '0' || s[i] > '9') {
		if s[i] == '-' || s[i] == '+' {
			return n, ""
		}
		i++
	}
	return n, s[i:]
}
